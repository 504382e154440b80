// SPDX-License-Identifier: Apache-2.0
//
// Windows whose rows say what they are: the first of their window, one that replaces what was given
// before, one that takes it back, or an early one of a window that is still open. Applied to a
// table by key and bounds (`early`, `first` and `again` put their value there, `retracted` removes
// it) they leave, at every moment, at most one value for each window, of no two sessions of a key
// that overlap; at the end, the windows of a computation that has all records at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <strid/base/time.hpp>
#include <strid/window/result.hpp>
#include <strid/window/spec.hpp>

namespace strid {

/// What a row says of its window.
enum class Revision : std::uint8_t {
    first,  ///< The window is complete.
    /// The window has changed since it was complete, or takes the place of sessions that were: the
    /// row replaces the one with the same key and bounds, where there is one.
    again,
    /// A session that was given has grown, or has become one with another: the window with these
    /// bounds is no more. The value is its last one.
    retracted,
    early  ///< The window is still open; its value so far.
};

/// The word for a row in a file: first, again, void, early.
[[nodiscard]] constexpr std::string_view to_string(Revision revision) noexcept {
    switch (revision) {
        case Revision::first:
            return "first";
        case Revision::again:
            return "again";
        case Revision::retracted:
            return "void";
        case Revision::early:
            break;
    }
    return "early";
}

/// A WindowResult with what it says of its window. Of the text of a key the same holds.
template <class K, class V, class Bounds = window::TimeBounds>
struct WindowUpdate {
    K key;          ///< Of the window's records.
    Bounds window;  ///< Its bounds.
    /// The value of the window, as the aggregate's `lower` returns it.
    V value;
    Revision revision = Revision::first;  ///< How the row relates to earlier rows of its window.

    /// The last time that lies in the window: its event time.
    [[nodiscard]] EventTime time() const noexcept
        requires std::is_same_v<Bounds, window::TimeBounds>
    {
        return window.end - Duration{1};
    }
};

namespace operators {
template <class K, class V>
inline constexpr bool has_own_time<WindowUpdate<K, V>> = true;
}  // namespace operators

/// Options of `window_updates`.
struct UpdateOptions {
    WindowOptions window = {};  ///< As of a window without updates.
    /// Windows that are open are given as they stand, `early`, by the machine's clock: what has
    /// changed comes after this long at the latest. 0: they are not.
    Duration early_every = Duration::zero();
    /// Windows of time without a record, between two of a key that are given, are given too, with
    /// the value of no record; at most so many between two, more end the run with an Error. 0: none
    /// are. What is known of a key then stays for the whole run.
    std::uint64_t fill_max = 0;
};

namespace window {

/// What a window gives when it fires, and when a late record comes after that.
enum class Firing : std::uint8_t {
    totals,  ///< Its whole value as it is now.
    parts,   ///< The value of the late record alone: an operator behind adds the parts up.
    updates  ///< Its whole value, and what that is: a WindowUpdate.
};

template <Firing firing, class K, class V>
using RowOf = std::conditional_t<firing == Firing::updates, WindowUpdate<K, V>, WindowResult<K, V>>;
template <Firing firing>
using OptionsOf = std::conditional_t<firing == Firing::updates, UpdateOptions, WindowOptions>;

[[nodiscard]] constexpr const WindowOptions& of_window(const WindowOptions& options) noexcept {
    return options;
}
[[nodiscard]] constexpr const WindowOptions& of_window(const UpdateOptions& options) noexcept {
    return options.window;
}

}  // namespace window
}  // namespace strid
