// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include <strid/memory/passing_texts.hpp>

namespace strid::memory {

namespace {

/// What is retired in a turn before another one begins, and the turns that may be held at a time.
constexpr std::size_t worth_a_turn_bytes = std::size_t{16} << 10;
constexpr std::size_t turns_max = 64;

/// A short text counts for what it takes.
constexpr std::size_t least_bytes = 16;

}  // namespace

PassingTexts::PassingTexts() : texts_({.lanes = 0}), turns_pool_(1, turns_max) {
    begin_turn(turns_pool_.try_lease());
}

std::string_view PassingTexts::keep(std::string_view text) {
    if (text.empty()) return {};
    auto* const copy = static_cast<char*>(texts_.allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
}

void PassingTexts::retire(std::string_view kept) {
    if (kept.empty() || for_good_) return;
    Turn& present = turns_.back();
    present.retired.push_back(const_cast<char*>(kept.data()));  // from keep()
    present.retired_bytes += std::max(kept.size(), least_bytes);
}

void PassingTexts::free(std::string_view kept) noexcept {
    if (kept.empty()) return;
    texts_.deallocate_local(const_cast<char*>(kept.data()));  // from keep()
}

const TextReference& PassingTexts::turn() {
    if (turns_.back().retired_bytes >= worth_a_turn_bytes) {
        // With none to be had the present turn lasts: batches of all the others are on their way.
        if (TextReference next = turns_pool_.try_lease()) begin_turn(std::move(next));
    }
    while (turns_.size() > 1 && turns_.front().reference.use_count() == 1) free_first();
    return turns_.back().reference;
}

void PassingTexts::begin_turn(TextReference reference) {
    turns_.push_back({std::move(reference), std::exchange(spare_, {})});
}

void PassingTexts::free_first() {
    spare_ = std::move(turns_.front().retired);
    turns_.pop_front();
    for (char* const text : spare_) texts_.deallocate_local(text);
    spare_.clear();
}

}  // namespace strid::memory
