// SPDX-License-Identifier: Apache-2.0
//
// Whose open windows are to be given before they are complete: the keys that have changed, and when
// it is time. The clock is read where a first key has changed, and once a run after that.
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/window/update.hpp>

namespace strid::window {

/// `Entry` is that of a KeyedState whose state has a member `early`: the number of its item here,
/// or 0. An item of a key that has expired since has another number, and is passed over.
template <class Entry>
class EarlyKeys {
  public:
    explicit EarlyKeys(const UpdateOptions& options) : every_ns_(options.early_every.count()) {}

    [[nodiscard]] bool on() const noexcept { return every_ns_ != 0; }

    /// The key has changed.
    void changed(Entry& key) {
        if (key.state.early != 0) return;
        key.state.early = ++last_;
        if (due_ns_ == 0) due_ns_ = operator_clock_ns() + every_ns_;
        keys_.push_back({last_, &key});
    }

    /// Gives `write` each key of `keys` that has changed, where it is time, while there is room.
    /// True once all are done.
    template <class Keys, class Write>
    bool write(auto& emit, Keys& keys, const Write& write) {
        if (due_ns_ == 0) return true;
        if (next_ == 0 && operator_clock_ns() < due_ns_) return true;
        for (; next_ != keys_.size(); ++next_) {
            if (!emit.room()) return false;
            Entry& key = *keys_[next_].key;
            if (key.state.early != keys_[next_].number) continue;
            keys.change(key);
            key.state.early = 0;
            write(key);
        }
        keys_.clear();
        next_ = 0;
        due_ns_ = 0;
        return true;
    }

    /// When `write` is to be called; 0: not before a key has changed.
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return due_ns_; }

    /// The part of the state that is not in those of the keys.
    [[nodiscard]] std::int64_t& due_ns() noexcept { return due_ns_; }
    /// The states of `keys` came from elsewhere: those that changed stand here. O(keys).
    template <class Keys>
    void restore(Keys& keys) {
        keys_.clear();
        keys.for_each([this](Entry& key) {
            if (key.state.early != 0) keys_.push_back({key.state.early, &key});
        });
        std::sort(keys_.begin(), keys_.end(),
                  [](const Item& one, const Item& other) { return one.number < other.number; });
        if (!keys_.empty()) last_ = keys_.back().number;
    }

  private:
    struct Item {
        std::uint64_t number;
        Entry* key;
    };

    std::int64_t every_ns_;
    // 0: no key has changed. All that have may have expired since.
    std::int64_t due_ns_ = 0;
    std::vector<Item> keys_;
    std::uint64_t last_ = 0;  // number of an item
    std::size_t next_ = 0;    // of the keys, while they are written
};

/// The state of a window as it was given early: none, or one.
template <class State>
struct EarlyState {
    void keep(const State& state) { states.assign(1, state); }
    void forget() noexcept { states.clear(); }
    /// There is one.
    [[nodiscard]] const State& state() const noexcept { return states.front(); }

    std::vector<State> states;  // not an optional: few windows have one
};
struct NoEarlyState {};
template <bool marks, class State>
using EarlyStateOf = std::conditional_t<marks, EarlyState<State>, NoEarlyState>;

struct NoEarlyKeys {
    explicit NoEarlyKeys(const WindowOptions& /*options*/) {}
};

}  // namespace strid::window
