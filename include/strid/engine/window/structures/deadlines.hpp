// SPDX-License-Identifier: Apache-2.0
//
// A heap of keys by their deadlines, the times at which their state must be processed. Every state
// holds a `Deadline`; a key that is put forward has a second item in the heap, and the first is
// passed over when it comes up. Keys of the same time come up in the order in which they were put
// down: the deadline has the number of its item, so that the heap follows from the states.
//
// O(log n) for each time that is put down. Windows whose ends all keys share have Schedule instead.
//
// Threads: one. Invariant: a key with a deadline has the item of its number in the heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <strid/base/time.hpp>

namespace strid::window {

/// When its key is looked at next, where it is at all.
struct Deadline {
    EventTime at;
    std::uint64_t number = 0;  // of its item; 0: it has none
};

/// Which deadline of a state it is about, where it has several: `Of::of(state)`.
struct OneDeadline {
    template <class State>
    static Deadline& of(State& state) noexcept {
        return state.deadline;
    }
};

/// `Entry` is that of a KeyedState.
template <class Entry, class Of = OneDeadline>
class Deadlines {
  public:
    /// The key is looked at by `at` at the latest.
    void await(Entry& key, EventTime at) {
        Deadline& deadline = Of::of(key.state);
        if (deadline.number != 0 && at >= deadline.at) return;
        deadline = {at, ++last_};
        heap_.push_back({at, last_, &key});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    [[nodiscard]] bool is_due(EventTime watermark) const noexcept {
        return !heap_.empty() && heap_.front().at <= watermark;
    }
    /// Takes what is due: a key of `keys`, which has no deadline then, or null for an item that
    /// another one has taken the place of. With the heap's functions in it: calls cost an interval
    /// join 70 instructions a record.
    template <class Keys>
    [[nodiscard, gnu::flatten]] Entry* pop(Keys& keys) {
        const Item item = heap_.front();
        std::pop_heap(heap_.begin(), heap_.end(), later);
        heap_.pop_back();
        Deadline& deadline = Of::of(item.key->state);
        if (deadline.number != item.number) return nullptr;
        keys.change(*item.key);
        deadline.number = 0;
        return item.key;
    }

    /// The deadlines of `keys` came from elsewhere: the heap has an item for each. O(keys).
    template <class Keys>
    void restore(Keys& keys) {
        heap_.clear();
        keys.for_each([this](Entry& key) {
            const Deadline& deadline = Of::of(key.state);
            if (deadline.number == 0) return;
            heap_.push_back({deadline.at, deadline.number, &key});
            last_ = std::max(last_, deadline.number);
        });
        std::make_heap(heap_.begin(), heap_.end(), later);
    }

  private:
    struct Item {
        EventTime at;
        std::uint64_t number;
        Entry* key;
    };
    static bool later(const Item& a, const Item& b) noexcept {
        return a.at != b.at ? a.at > b.at : a.number > b.number;
    }

    std::vector<Item> heap_;  // the soonest at the front
    std::uint64_t last_ = 0;  // number of an item
};

}  // namespace strid::window
