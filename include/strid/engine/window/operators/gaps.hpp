// SPDX-License-Identifier: Apache-2.0
//
// Which windows of a key have been given, so that those between two of them that have no record can
// be given as well. The given windows of a key are a range without a hole: before a window behind
// the range, the windows in between are given; after a late window before it, those in between.
//
// Threads: only the task of the node. A key is kept for as long as this is.
#pragma once

#include <algorithm>
#include <cstdint>

#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/operator/keyed_state.hpp>
#include <strid/window/spec.hpp>

namespace strid::window {

namespace detail {
[[noreturn]] void throw_gap_too_wide(std::uint64_t windows, std::uint64_t windows_max);
}

template <class K>
class GivenWindows {
    using Index = TimeWindows::Index;

  public:
    using Range = WindowRange<Index>;

    /// The key as what is given may hold it, and its windows that were given: none, at first.
    struct Given {
        const K& key;
        Range& range;
    };

    explicit GivenWindows(std::uint64_t gap_max) : gap_max_(gap_max) {}

    [[nodiscard]] bool on() const noexcept { return gap_max_ != 0; }

    [[nodiscard]] Given of(const K& key, std::uint64_t hash) {
        auto& entry = keys_.find_or_make(key, hash, [] { return Range{}; });
        return {entry.key, entry.state};
    }
    /// The windows without a record between those that were given and these, which are given now
    /// and belong to them from now on. Throws Error where that are too many.
    [[nodiscard]] Range take(Range& given, Range now) const {
        if (given.size() == 0) {
            given = now;
            return {};
        }
        Range gap{};
        if (now.first > given.end) gap = {given.end, now.first};
        if (now.end < given.first) gap = {now.end, given.first};
        given = {std::min(given.first, now.first), std::max(given.end, now.end)};
        // Not by size(), which may pass the limits of numbers.
        const auto windows =
            static_cast<std::uint64_t>(gap.end) - static_cast<std::uint64_t>(gap.first);
        if (windows > gap_max_) detail::throw_gap_too_wide(windows, gap_max_);
        return gap;
    }

    auto state() { return std::make_tuple(operators::states_by_key(keys_)); }

  private:
    KeyedState<K, Range, KeyLife{.in_slices = true}> keys_;
    std::uint64_t gap_max_;
};

}  // namespace strid::window
