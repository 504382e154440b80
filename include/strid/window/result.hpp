// SPDX-License-Identifier: Apache-2.0
//
// The results of a window operator, and its options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <strid/base/time.hpp>
#include <strid/operator/stream_time.hpp>
#include <strid/window/spec.hpp>

namespace strid {

/// The value of one window of one key. A text key is valid as long as a text field of a record:
/// until the batch of the result is released. To keep a result longer, copy the text.
template <class K, class V, class Bounds = window::TimeBounds>
struct WindowResult {
    K key;          ///< Of the window's records.
    Bounds window;  ///< Its bounds: times, or positions in the stream of the key.
    V value;        ///< The value of the window, as the aggregate's `lower` returns it.

    /// The time of the result, for windows over windows: the last moment of the window.
    [[nodiscard]] EventTime time() const noexcept
        requires std::is_same_v<Bounds, window::TimeBounds>
    {
        return window.end - Duration{1};
    }
};

namespace operators {
template <class K, class V>
inline constexpr bool has_own_time<WindowResult<K, V>> = true;
}  // namespace operators

/// The treatment of windows that are still open when the stream ends.
enum class OpenWindows : std::uint8_t {
    fire,  ///< They give their value as it is.
    drop   ///< They give nothing: those that end behind the latest time of the stream.
};

/// Which watermark decides whether a record is late, where several streams meet right before a
/// window.
enum class LateBy : std::uint8_t {
    slowest_input,  ///< A window takes records while the slowest input holds it open.
    /// The watermark of the record's own input. The same records are late in every run (design note
    /// 0005), even some that a window could still have taken.
    own_input
};

/// Options of a window operator.
struct WindowOptions {
    std::string name = {};        ///< Empty: "window-<n>".
    std::size_t parallelism = 0;  ///< 0: the planner's choice.
    /// A window takes records for this long after the watermark has passed its end, and emits its
    /// new value each time. Records that come after that are late.
    Duration lateness = Duration::zero();
    /// Whether windows that are open at the end of the stream fire.
    OpenWindows at_end = OpenWindows::fire;
    LateBy late_by = LateBy::slowest_input;  ///< own_input: for windows of time by key.
};

}  // namespace strid
