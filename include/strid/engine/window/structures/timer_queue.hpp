// SPDX-License-Identifier: Apache-2.0
//
// The timers of functions by key. Each key has a table of its pending timers by their time, which
// is a part of its state; a heap over all keys gives the next one, and follows from the tables.
// A timer that is cancelled leaves its item in the heap; when more than half of the items are such,
// the heap is made anew without them, so that both have memory for the pending timers only.
//
// To set and to cancel a timer: O(1) in the table, amortised, and O(log timers) in the heap.
//
// Threads: one. Invariant: a timer that is pending has the item of its number in the heap; an item
// whose timer is not pending is passed over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/base/hash.hpp>
#include <strid/base/time.hpp>
#include <strid/state/codec.hpp>

namespace strid::window {

/// The pending timers of a key: a hash table with linear probing, of 16 bytes for each place. A
/// table of up to 8 may be full; a greater one has a quarter free.
template <class Time>
class TimerTable {
  public:
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return capacity() * sizeof(Timer); }

    /// False, and no change, where a timer of this time is pending. `number` is not 0. May throw
    /// std::bad_alloc.
    bool add(Time time, std::uint64_t number) {
        const std::size_t place = find(time);
        if (place != capacity() && timers_[place].number != 0) return false;
        if (is_full()) {
            rebuild(exponent_ + 1U);
            timers_[find(time)] = {time, number};
        } else {
            timers_[place] = {time, number};
        }
        ++size_;
        return true;
    }
    /// The number of the timer of this time, 0 where none is pending.
    [[nodiscard]] std::uint64_t number_of(Time time) const noexcept {
        const std::size_t place = find(time);
        return place == capacity() ? 0 : timers_[place].number;
    }
    /// False where no timer of this time is pending. May throw std::bad_alloc, before any change.
    bool erase(Time time) {
        if (size_ <= capacity() / 16 && capacity() > kept) rebuild(exponent_ - 1U);
        const std::size_t place = find(time);
        if (place == capacity() || timers_[place].number == 0) return false;
        close(place);
        --size_;
        return true;
    }
    /// A small table keeps its memory for the next key.
    void clear() noexcept {
        if (capacity() > kept) {
            *this = {};
        } else {
            for (std::size_t i = 0; size_ != 0; ++i) {
                size_ -= std::exchange(timers_[i].number, 0) != 0 ? 1U : 0U;
            }
        }
    }
    /// Calls `visit(time, number)` for each, in no order.
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (std::size_t i = 0; i != capacity(); ++i) {
            if (timers_[i].number != 0) visit(timers_[i].time, timers_[i].number);
        }
    }

    void save(StateWriter& writer) const {
        writer.length(size());
        for_each([&writer](Time time, std::uint64_t number) {
            state::save(writer, time);
            writer.number(number);
        });
    }
    void load(StateReader& reader) {
        clear();
        for (std::size_t left = reader.length(sizeof(Timer)); left != 0; --left) {
            const Time time = state::loaded<Time>(reader);
            const std::uint64_t number = reader.number();
            if (number == 0 || !add(time, number)) reader.refuse("is no timer");
        }
    }

  private:
    struct Timer {
        Time time{};
        std::uint64_t number = 0;  // of its item in the heap; 0: the place is free
    };
    static constexpr std::size_t kept = 64;

    [[nodiscard]] std::size_t capacity() const noexcept {
        return timers_ == nullptr ? 0 : std::size_t{1} << exponent_;
    }
    [[nodiscard]] bool is_full() const noexcept {
        return size_ == (capacity() <= 8 ? capacity() : capacity() / 4 * 3);
    }
    [[nodiscard]] std::size_t home(Time time) const noexcept {
        return hash_of(time.ns()) & (capacity() - 1);
    }
    [[nodiscard]] std::size_t behind(std::size_t place) const noexcept {
        return (place + 1) & (capacity() - 1);
    }
    /// The place of the time, or the free one where it belongs; the capacity where there is none.
    [[nodiscard]] std::size_t find(Time time) const noexcept {
        std::size_t place = home(time);
        for (std::size_t tried = 0; tried != capacity(); ++tried, place = behind(place)) {
            if (timers_[place].number == 0 || timers_[place].time == time) return place;
        }
        return capacity();
    }
    /// Empties a place, and moves those behind it up that belong at it or before.
    void close(std::size_t place) noexcept {
        timers_[place].number = 0;
        for (std::size_t at = behind(place); timers_[at].number != 0; at = behind(at)) {
            const std::size_t mask = capacity() - 1;
            if (((at - home(timers_[at].time)) & mask) < ((at - place) & mask)) continue;
            timers_[place] = timers_[at];
            timers_[at].number = 0;
            place = at;
        }
    }
    void rebuild(unsigned exponent) {
        TimerTable table;
        if (timers_ == nullptr) exponent = 0;
        table.timers_ = std::make_unique<Timer[]>(std::size_t{1} << exponent);
        table.exponent_ = exponent & 0xFFU;
        table.size_ = size_;
        for_each([&table](Time time, std::uint64_t number) {
            table.timers_[table.find(time)] = {time, number};
        });
        *this = std::move(table);
    }

    std::unique_ptr<Timer[]> timers_;
    std::uint64_t size_ : 56 = 0;
    std::uint64_t exponent_ : 8 = 0;  // of the capacity
};

/// The pending timers of a key. Moved with the state of the key.
struct PendingTimers {
    TimerTable<EventTime> event;
    TimerTable<ProcessingTime> processing;
    void* key = nullptr;  ///< Its entry.

    auto state() { return std::tie(event, processing); }

    [[nodiscard]] std::size_t bytes() const noexcept { return event.bytes() + processing.bytes(); }
};

/// Those of one kind of time.
[[nodiscard]] inline TimerTable<EventTime>& timers_in(PendingTimers& of, EventTime) noexcept {
    return of.event;
}
[[nodiscard]] inline TimerTable<ProcessingTime>& timers_in(PendingTimers& of,
                                                           ProcessingTime) noexcept {
    return of.processing;
}

/// The timers of all keys by their time, those of one time in the order in which they were set.
/// The entries of the keys stay where they are.
template <class Time>
class TimerQueue {
  public:
    /// Does nothing where it is set already. May throw std::bad_alloc.
    void add(PendingTimers& of, Time time) {
        if (!timers_in(of, Time{}).add(time, last_ + 1)) return;
        heap_.push_back({time, ++last_, &of});
        ++pending_;
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    /// Does nothing where it is not set.
    void cancel(PendingTimers& of, Time time) {
        if (!timers_in(of, Time{}).erase(time)) return;
        --pending_;
        leave_out_cancelled();
    }
    /// Cancels all timers of a key.
    void forget(PendingTimers& of) {
        pending_ -= timers_in(of, Time{}).size();
        timers_in(of, Time{}).clear();
        leave_out_cancelled();
    }
    /// The next of the heap is due. It may be cancelled.
    [[nodiscard]] bool is_due(Time now) const noexcept {
        return !heap_.empty() && heap_.front().time <= now;
    }
    [[nodiscard]] bool empty() const noexcept { return pending_ == 0; }
    [[nodiscard]] Time first() const noexcept { return heap_.front().time; }
    /// The key of the next of the heap.
    [[nodiscard]] PendingTimers& first_key() const noexcept { return *heap_.front().of; }
    /// Takes the next of the heap. False where it is cancelled.
    [[nodiscard]] bool pop() {
        const Item next = heap_.front();
        TimerTable<Time>& table = timers_in(*next.of, next.time);
        const bool is_set = table.number_of(next.time) == next.number;
        if (is_set) table.erase(next.time);
        std::pop_heap(heap_.begin(), heap_.end(), later);
        heap_.pop_back();
        pending_ -= is_set ? 1U : 0U;
        leave_out_cancelled();
        return is_set;
    }

    /// The timers of a key came from elsewhere. Call restored() behind the last.
    void restore(PendingTimers& of) {
        timers_in(of, Time{}).for_each([&](Time time, std::uint64_t number) {
            heap_.push_back({time, number, &of});
            last_ = std::max(last_, number);
        });
        pending_ += timers_in(of, Time{}).size();
    }
    void restored() { std::make_heap(heap_.begin(), heap_.end(), later); }

    /// Of the heap, without the tables of the keys.
    [[nodiscard]] std::size_t bytes() const noexcept { return heap_.capacity() * sizeof(Item); }

  private:
    struct Item {
        Time time;
        std::uint64_t number;
        PendingTimers* of;
    };
    static bool later(const Item& a, const Item& b) noexcept {
        return a.time != b.time ? a.time > b.time : a.number > b.number;
    }
    /// O(1) amortised: half of the items have been cancelled since the last time, or most of the
    /// room has emptied.
    void leave_out_cancelled() {
        if (heap_.size() > 2 * pending_ + few) {
            std::erase_if(heap_, [](const Item& item) {
                return timers_in(*item.of, item.time).number_of(item.time) != item.number;
            });
            std::make_heap(heap_.begin(), heap_.end(), later);
        }
        if (heap_.capacity() > 8 * (heap_.size() + few)) heap_.shrink_to_fit();
    }
    static constexpr std::size_t few = 64;

    std::vector<Item> heap_;   // the next at the front
    std::size_t pending_ = 0;  // of the items
    std::uint64_t last_ = 0;   // number of an item
};

}  // namespace strid::window
