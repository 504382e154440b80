// SPDX-License-Identifier: Apache-2.0
//
// The turns of keys: a schedule (schedule.hpp) of the keys of a table by the number of the window
// at whose end they are looked at. Every state holds a `Turn`; a key that is put forward has a
// second item in the schedule, and the first is passed over. Keys of the same window come up in the
// order in which they were put down: the turn has the number of its item, so that the schedule
// follows from the states.
//
// Threads: one. Invariant: a key with a turn has the item of its number in the schedule.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <strid/engine/window/structures/schedule.hpp>

namespace strid::window {

/// The window at which its key is looked at next, where there is one.
struct Turn {
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    std::int64_t window = never;
    std::uint64_t number = 0;  // of its item
};

/// `Entry` is that of a KeyedState whose states have a member `turn`.
template <class Entry>
class Turns {
  public:
    using Index = std::int64_t;
    struct Item {
        Entry* key;
        std::uint64_t number;
    };

    /// Everything before is over.
    [[nodiscard]] Index position() const noexcept { return schedule_.position(); }
    /// The items that come up next, with the number of the last one's window.
    [[nodiscard]] std::span<const Item> at_hand() const noexcept { return schedule_.at_hand(); }

    /// The key is looked at by `window` at the latest.
    void await(Entry& key, Index window) {
        if (window < key.state.turn.window) put(key, window);
    }
    /// The next item before `end`: its key of `keys`, which has no turn then, or null for an item
    /// that another one has taken the place of. False where there is none.
    template <class Keys>
    [[nodiscard]] bool pop(Index end, Keys& keys, Index& window, Entry*& key) {
        Item item{};
        if (!schedule_.pop(end, window, item)) return false;
        Turn& turn = item.key->state.turn;
        key = turn.number == item.number ? item.key : nullptr;
        if (key == nullptr) return true;
        keys.change(*key);
        turn = {};
        return true;
    }

    /// The turns of `keys` came from elsewhere, where everything before `position` is over: the
    /// schedule, which is empty, has an item for each. O(keys log keys).
    template <class Keys>
    void restore(Keys& keys, Index position) {
        std::vector<Item> items;
        keys.for_each([&items](Entry& key) {
            if (key.state.turn.number != 0) items.push_back({&key, key.state.turn.number});
        });
        std::sort(items.begin(), items.end(),
                  [](const Item& one, const Item& other) { return one.number < other.number; });
        schedule_.begin_at(position);
        for (const Item& item : items) schedule_.add(item.key->state.turn.window, item);
        if (!items.empty()) last_ = items.back().number;
    }

  private:
    /// Out of line: most records find their key waiting.
    [[gnu::noinline]] void put(Entry& key, Index window) {
        key.state.turn = {window, ++last_};
        schedule_.add(window, {&key, last_});
    }

    Schedule<Item> schedule_;
    std::uint64_t last_ = 0;  // number of an item
};

}  // namespace strid::window
