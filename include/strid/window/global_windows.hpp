// SPDX-License-Identifier: Apache-2.0
//
// The global window with a trigger of the user's: one window for each key, over all of its records
// since it was last cleared. The trigger sees every record and decides whether the window fires,
// and whether it is cleared after that.
//
// O(1) combinations per record. A key lives as long as the run, because its positions do.
//
// Threads: plain values.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

namespace strid::window {

/// The decision of a trigger after a record.
enum class Trigger : std::uint8_t {
    wait,           ///< Nothing.
    fire,           ///< The value of the window as it is; the window goes on.
    fire_and_clear  ///< The same, and the next record starts a new window.
};

/// A trigger is called as `Trigger f(const T& record)` with each record once that is in the window.
/// Each key has its own copy, which may count or remember.
template <class F, class T>
concept TriggerOf = std::copy_constructible<F> && requires(F& trigger, const T& record) {
    { trigger(record) } -> std::same_as<Trigger>;
};

/// The window of everything: `window(global(trigger), aggregate)`.
template <class F>
struct GlobalWindows {
    F trigger;  ///< Copied for each key.
};
/// The window of everything, which fires and is cleared when `trigger` says so.
template <class F>
[[nodiscard]] GlobalWindows<F> global(F trigger) {
    return {std::move(trigger)};
}

}  // namespace strid::window
