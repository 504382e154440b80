// SPDX-License-Identifier: Apache-2.0
//
// Windows whose rows are marked: the first row of a window, a row that replaces an earlier one, a
// row that retracts one, or an early row of a window that is still open. Applied to a table by key
// and bounds (`early`, `first` and `again` put their value there, `retracted` removes it) they
// leave, at every moment, at most one value for each window, of no two sessions of a key that
// overlap; at the end, the windows of a computation that has all records at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <strid/base/time.hpp>
#include <strid/window/result.hpp>
#include <strid/window/spec.hpp>

namespace strid {

/// The mark of a row.
enum class Revision : std::uint8_t {
    first,  ///< The window is complete.
    /// The window has changed since it was complete, or replaces earlier sessions. The row replaces
    /// the row with the same key and bounds, if there is one.
    again,
    /// An emitted session has grown or has been merged with another: the window with these bounds
    /// no longer exists. The value is the one that was emitted last.
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

/// A WindowResult with its mark. The text of its key is valid as that of a WindowResult.
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

/// Options of `window` that make its rows marked.
struct UpdateOptions {
    WindowOptions window = {};  ///< As of a window without updates.
    /// Open windows are emitted early, marked `early`: a change is emitted within this time of the
    /// machine's clock. 0: open windows are not emitted.
    Duration early_every = Duration::zero();
    /// Emits windows of time without a record, between two windows of a key, with the value of no
    /// record. This is the greatest number between two windows; more end the run with an Error. 0:
    /// no such windows. With it the state of a key is kept for the whole run.
    std::uint64_t fill_max = 0;
};

}  // namespace strid
