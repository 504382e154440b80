// SPDX-License-Identifier: Apache-2.0
//
// A schedule: items by the number of the window whose end they wait for. A hashed wheel (Varghese
// and Lauck: "Hashed and hierarchical timing wheels", SOSP 1987): a due number names a bucket, in
// which items of later rounds wait too.
//
// `add` is O(1). `pop` is O(1) amortised, plus the numbers passed by, of which long empty stretches
// are jumped over. Items of the same number come out in the order in which they were added. Buckets
// pass their memory on to others.
//
// Threads: one. Invariant: no item is due before `position()`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <strid/engine/base/assert.hpp>

namespace strid::window {

template <class Item>
class Schedule {
  public:
    using Index = std::int64_t;

    Schedule() : buckets_(bucket_count) {}

    /// Everything before is over.
    [[nodiscard]] Index position() const noexcept { return position_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    /// Begins elsewhere, before the first item: everything before `position` is over.
    void begin_at(Index position) noexcept {
        STRID_ASSERT(empty());
        position_ = position;
    }
    void add(Index due, Item item) {
        STRID_ASSERT(due >= position_);
        auto& bucket = buckets_[bucket_of(due)];
        if (bucket.empty() && !spare_.empty()) {
            bucket = std::move(spare_.back());
            spare_.pop_back();
        }
        bucket.push_back({due, std::move(item)});
        ++size_;
    }

    /// The item that is due next where that is before `end`. False where there is none: then the
    /// position is `end`. An item that is added between two calls is due after the item that came
    /// out last.
    [[nodiscard]] bool pop(Index end, Index& due, Item& item) {
        while (next_ == at_hand_.size()) {
            if (!step(end)) return false;
        }
        due = position_ - 1;
        item = std::move(at_hand_[next_++]);
        --size_;
        return true;
    }

    /// The remaining items with the number of the last popped item, in their order.
    [[nodiscard]] std::span<const Item> at_hand() const noexcept {
        return {at_hand_.data() + next_, at_hand_.size() - next_};
    }

  private:
    struct Entry {
        Index due;
        Item item;
    };
    static constexpr std::size_t bucket_count = 1024;

    [[nodiscard]] static std::size_t bucket_of(Index due) noexcept {
        return static_cast<std::size_t>(due) % bucket_count;
    }
    [[nodiscard]] static std::uint64_t distance(Index from, Index to) noexcept {
        return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
    }

    /// Takes what is due at the position in hand and goes on by one. False at the end.
    bool step(Index end) {
        if (position_ >= end) return false;
        if (size_ == 0) {
            position_ = end;
            return false;
        }
        if (distance(position_, end) > bucket_count) {
            position_ = std::min(end, earliest());
            if (position_ == end) return false;
        }
        at_hand_.clear();
        next_ = 0;
        auto& bucket = buckets_[bucket_of(position_)];
        const auto later = std::remove_if(bucket.begin(), bucket.end(), [this](Entry& entry) {
            if (entry.due != position_) return false;
            at_hand_.push_back(std::move(entry.item));
            return true;
        });
        bucket.erase(later, bucket.end());
        if (bucket.empty() && bucket.capacity() != 0) spare_.push_back(std::move(bucket));
        ++position_;
        return true;
    }

    [[nodiscard]] Index earliest() const noexcept {
        Index least = std::numeric_limits<Index>::max();
        for (const auto& bucket : buckets_) {
            for (const Entry& entry : bucket) least = std::min(least, entry.due);
        }
        return least;
    }

    std::vector<std::vector<Entry>> buckets_;  // an empty one has no memory
    std::vector<std::vector<Entry>> spare_;    // of buckets that emptied
    std::vector<Item> at_hand_;                // due at position_ - 1, from next_ on
    std::size_t next_ = 0;
    std::size_t size_ = 0;
    Index position_ = std::numeric_limits<Index>::min();
};

}  // namespace strid::window
