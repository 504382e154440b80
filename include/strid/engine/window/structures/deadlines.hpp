// SPDX-License-Identifier: Apache-2.0
//
// A heap of keys by their deadlines, the times at which their state must be processed. Every state
// holds a `Deadline`; a key that is put forward has a second item in the heap, and the first is
// passed over when it comes up. Keys of the same time come up in the order in which they were put
// down.
//
// O(log n) for each time that is put down. Windows whose ends all keys share have Schedule instead.
//
// Threads: one. Invariant: a key with a deadline has an item of that time in the heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <strid/base/time.hpp>

namespace strid::window {

/// When its key is looked at next, where it is at all.
struct Deadline {
    EventTime at;
    bool is_set = false;
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
        if (deadline.is_set && at >= deadline.at) return;
        deadline = {at, true};
        heap_.push_back({at, number_++, &key});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    [[nodiscard]] bool is_due(EventTime watermark) const noexcept {
        return !heap_.empty() && heap_.front().at <= watermark;
    }
    /// Takes what is due: a key, which has no deadline then, or null for an item that another one
    /// has taken the place of.
    [[nodiscard]] Entry* pop() {
        const Item item = heap_.front();
        std::pop_heap(heap_.begin(), heap_.end(), later);
        heap_.pop_back();
        Deadline& deadline = Of::of(item.key->state);
        if (!deadline.is_set || deadline.at != item.at) return nullptr;
        deadline.is_set = false;
        return item.key;
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
    std::uint64_t number_ = 0;
};

}  // namespace strid::window
