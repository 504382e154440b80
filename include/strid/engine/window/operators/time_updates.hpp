// SPDX-License-Identifier: Apache-2.0
//
// The additional state of windows of event time (keyed_time_windows.hpp) whose rows are marked:
// which windows of a key have changed since they were emitted early, and which must be filled in.
// Empty where rows are not marked.
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/window/operators/early.hpp>
#include <strid/engine/window/operators/firing.hpp>
#include <strid/engine/window/operators/gaps.hpp>
#include <strid/window/spec.hpp>
#include <strid/window/update.hpp>

namespace strid::window {

/// Of a key: the windows that have changed since they were given early.
class ChangedWindows {
    using Index = TimeWindows::Index;

  public:
    std::uint64_t early = 0;  // as EarlyKeys needs it

    void change(WindowRange<Index> windows) {
        if (windows.size() <= 0 || (!changed_.empty() && changed_.back() == windows)) return;
        changed_.push_back(windows);
    }
    /// Those from `first` on, each once, oldest first.
    [[nodiscard]] std::vector<Index> take_changes(Index first) {
        std::vector<Index> windows;
        for (const auto& range : changed_) {
            for (Index window = std::max(range.first, first); window < range.end; ++window) {
                windows.push_back(window);
            }
        }
        changed_.clear();
        std::sort(windows.begin(), windows.end());
        windows.erase(std::unique(windows.begin(), windows.end()), windows.end());
        return windows;
    }
    void forget_changes() noexcept {
        early = 0;
        changed_.clear();
    }
    auto state() { return std::tie(early, changed_); }

  private:
    std::vector<WindowRange<Index>> changed_;
};

struct NoChangedWindows {
    static void forget_changes() noexcept {}
};

template <Firing firing>
using ChangedWindowsOf =
    std::conditional_t<firing == Firing::updates, ChangedWindows, NoChangedWindows>;

/// `Entry` is that of a KeyedState whose state has ChangedWindows.
template <class K, class Entry>
class TimeUpdates {
    using Index = TimeWindows::Index;

  public:
    explicit TimeUpdates(const UpdateOptions& options) : early(options), given_(options.fill_max) {}

    /// Before a record is added to the windows of a key: which of those that have fired, the ones
    /// before `position`, were given for it, and which open ones it changes. `has(entry, window)`
    /// says whether the key has a record there.
    template <class Has>
    void note(Entry& entry, WindowRange<Index> windows, Index position, const Has& has) {
        if (windows.first < position) [[unlikely]] {
            had_.clear();
            for (Index window = windows.first; window < std::min(windows.end, position); ++window) {
                if (has(entry, window)) had_.push_back(window);
            }
        }
        if (!early.on()) return;
        entry.state.change({std::max(windows.first, position), windows.end});
        early.changed(entry);
    }

    /// The record noted last has changed windows that have fired, or has made them: calls
    /// `give(window, revision)` for each, and `give_empty(key, window)` for those without a record
    /// between them and what was given before.
    template <class Give, class GiveEmpty>
    void give_again(const Entry& entry, WindowRange<Index> fired, const Give& give,
                    const GiveEmpty& give_empty) {
        WindowRange<Index> before{};
        WindowRange<Index> gap{};
        const K* key = nullptr;
        if (given_.on()) {
            const auto given = given_.of(entry.key, entry.hash);
            key = &given.key;
            before = given.range;
            gap = given_.take(given.range, fired);
        }
        const auto fill = [&] {
            for (Index window = gap.first; window < gap.end; ++window) give_empty(*key, window);
        };
        if (gap.first < fired.first) fill();
        for (Index window = fired.first; window < fired.end; ++window) {
            const bool is_again =
                before.has(window) || std::binary_search(had_.begin(), had_.end(), window);
            give(window, is_again ? Revision::again : Revision::first);
        }
        if (gap.first >= fired.end) fill();
    }

    /// The key is to fire, and windows without a record are to be given before: it is held.
    template <class Has>
    [[nodiscard]] bool waits_for_gap(Entry& entry, Index window, const Has& has) {
        if (!given_.on() || !has(entry, window)) return false;
        const auto given = given_.of(entry.key, entry.hash);
        gap_ = given_.take(given.range, {window, window + 1});
        if (gap_.first == gap_.end) return false;
        gap_key_ = &given.key;
        held_ = &entry;
        return true;
    }
    /// Gives one of them by `give_empty(key, window)`. False where there is none.
    template <class GiveEmpty>
    [[nodiscard]] bool gives_of_gap(const GiveEmpty& give_empty) {
        if (gap_.first == gap_.end) return false;
        give_empty(*gap_key_, gap_.first++);
        return true;
    }
    /// The key that is held; null where there is none.
    [[nodiscard]] Entry* take_held() noexcept { return std::exchange(held_, nullptr); }

    /// Beside the states of the keys: when the next early rows are due, and the windows that were
    /// given.
    auto state() {
        return std::tuple_cat(std::make_tuple(operators::GreatestOf(early.due_ns())),
                              given_.state());
    }

    EarlyKeys<Entry> early;

  private:
    GivenWindows<K> given_;
    std::vector<Index> had_;    // had a record before that at hand; they rise
    WindowRange<Index> gap_{};  // still to be given
    const K* gap_key_ = nullptr;
    Entry* held_ = nullptr;  // fires behind the gap
};

struct NoTimeUpdates {
    explicit NoTimeUpdates(const WindowOptions& /*options*/) {}
    static auto state() noexcept { return std::tie(); }
};

template <Firing firing, class K, class Entry>
using TimeUpdatesOf =
    std::conditional_t<firing == Firing::updates, TimeUpdates<K, Entry>, NoTimeUpdates>;

}  // namespace strid::window
