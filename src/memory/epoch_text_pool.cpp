// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include <strid/engine/memory/epoch_text_pool.hpp>

namespace strid::memory {

namespace {

/// Bytes that must be retired in an epoch before another one begins.
constexpr std::size_t epoch_bytes_min = std::size_t{16} << 10;

/// A short text counts as its allocated size.
constexpr std::size_t least_bytes = 16;

/// Texts that an epoch has room for from the start. It gets more when a batch retires many at its
/// end. An epoch that lasted long may have far more; its list is then not kept for another epoch.
constexpr std::size_t usual_texts = epoch_bytes_min / least_bytes;
constexpr std::size_t kept_texts_max = 4 * usual_texts;

}  // namespace

EpochTextPool::EpochTextPool() : texts_({.lanes = 0}), epoch_references_(1, epochs_max) {
    epochs_.reserve(epochs_max);
    spares_.reserve(epochs_max);
    begin_epoch(epoch_references_.try_lease());
}

std::string_view EpochTextPool::keep(std::string_view text) {
    if (text.empty()) return {};
    auto* const copy = static_cast<char*>(texts_.allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
}

void EpochTextPool::retire(std::string_view kept) {
    if (kept.empty() || for_good_) return;
    Epoch& present = epochs_.back();
    present.retired.push_back(const_cast<char*>(kept.data()));  // from keep()
    present.retired_bytes += std::max(kept.size(), least_bytes);
}

void EpochTextPool::free(std::string_view kept) noexcept {
    if (kept.empty()) return;
    texts_.deallocate_local(const_cast<char*>(kept.data()));  // from keep()
}

const TextReference& EpochTextPool::advance_epoch() {
    if (epochs_.back().retired_bytes >= epoch_bytes_min) {
        // If there is none, the present epoch lasts: batches of all the others are in flight.
        if (TextReference next = epoch_references_.try_lease()) begin_epoch(std::move(next));
    }
    std::size_t over = 0;
    while (over + 1 < epochs_.size() && epochs_[over].reference.use_count() == 1) {
        free_texts_of(epochs_[over++]);
    }
    epochs_.erase(epochs_.begin(), epochs_.begin() + static_cast<std::ptrdiff_t>(over));
    return epochs_.back().reference;
}

void EpochTextPool::begin_epoch(TextReference reference) {
    std::vector<char*> texts;
    if (spares_.empty()) {
        texts.reserve(usual_texts);
    } else {
        texts = std::move(spares_.back());
        spares_.pop_back();
    }
    epochs_.push_back({std::move(reference), std::move(texts)});
    STRID_PARANOID(is_valid());
}

void EpochTextPool::free_texts_of(Epoch& epoch) noexcept {
    for (char* const text : epoch.retired) texts_.deallocate_local(text);
    epoch.retired.clear();
    if (epoch.retired.capacity() <= kept_texts_max) spares_.push_back(std::move(epoch.retired));
}

bool EpochTextPool::is_valid() const {
    if (epochs_.empty() || epochs_.size() > epochs_max || !texts_.is_valid()) return false;
    std::vector<const char*> retired;
    for (const Epoch& epoch : epochs_) {
        std::size_t bytes_max = 0;
        for (const char* const text : epoch.retired) {
            retired.push_back(text);
            bytes_max += std::max(SlabAllocator::usable_bytes(text), least_bytes);
        }
        const bool is_present = &epoch == &epochs_.back();
        if (!epoch.reference || epoch.retired_bytes > bytes_max) return false;
        if (!is_present && epoch.retired_bytes < epoch_bytes_min) return false;
    }
    std::sort(retired.begin(), retired.end());
    const bool twice = std::adjacent_find(retired.begin(), retired.end()) != retired.end();
    return !twice && retired.size() <= held();
}

}  // namespace strid::memory
