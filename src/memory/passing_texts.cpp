// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include <strid/memory/passing_texts.hpp>

namespace strid::memory {

namespace {

/// Bytes that must be retired in an epoch before another one begins.
constexpr std::size_t worth_a_turn_bytes = std::size_t{16} << 10;

/// A short text counts as its allocated size.
constexpr std::size_t least_bytes = 16;

/// Texts that an epoch has room for from the start. It gets more when a batch retires many at its
/// end. An epoch that lasted long may have far more; its list is then not kept for another epoch.
constexpr std::size_t usual_texts = worth_a_turn_bytes / least_bytes;
constexpr std::size_t kept_texts_max = 4 * usual_texts;

}  // namespace

PassingTexts::PassingTexts() : texts_({.lanes = 0}), turns_pool_(1, turns_max) {
    turns_.reserve(turns_max);
    spares_.reserve(turns_max);
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
        // If there is none, the present epoch lasts: batches of all the others are in flight.
        if (TextReference next = turns_pool_.try_lease()) begin_turn(std::move(next));
    }
    std::size_t over = 0;
    while (over + 1 < turns_.size() && turns_[over].reference.use_count() == 1) {
        free_texts_of(turns_[over++]);
    }
    turns_.erase(turns_.begin(), turns_.begin() + static_cast<std::ptrdiff_t>(over));
    return turns_.back().reference;
}

void PassingTexts::begin_turn(TextReference reference) {
    std::vector<char*> texts;
    if (spares_.empty()) {
        texts.reserve(usual_texts);
    } else {
        texts = std::move(spares_.back());
        spares_.pop_back();
    }
    turns_.push_back({std::move(reference), std::move(texts)});
    STRID_PARANOID(is_valid());
}

void PassingTexts::free_texts_of(Turn& turn) noexcept {
    for (char* const text : turn.retired) texts_.deallocate_local(text);
    turn.retired.clear();
    if (turn.retired.capacity() <= kept_texts_max) spares_.push_back(std::move(turn.retired));
}

bool PassingTexts::is_valid() const {
    if (turns_.empty() || turns_.size() > turns_max || !texts_.is_valid()) return false;
    std::vector<const char*> retired;
    for (const Turn& turn : turns_) {
        std::size_t bytes_max = 0;
        for (const char* const text : turn.retired) {
            retired.push_back(text);
            bytes_max += std::max(SlabAllocator::usable_bytes(text), least_bytes);
        }
        const bool is_present = &turn == &turns_.back();
        if (!turn.reference || turn.retired_bytes > bytes_max) return false;
        if (!is_present && turn.retired_bytes < worth_a_turn_bytes) return false;
    }
    std::sort(retired.begin(), retired.end());
    const bool twice = std::adjacent_find(retired.begin(), retired.end()) != retired.end();
    return !twice && retired.size() <= held();
}

}  // namespace strid::memory
