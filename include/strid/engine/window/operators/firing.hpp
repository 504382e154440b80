// SPDX-License-Identifier: Apache-2.0
//
// The rows that a window operator makes, and its options, by their kind.
#pragma once

#include <cstdint>
#include <type_traits>

#include <strid/window/result.hpp>
#include <strid/window/update.hpp>

namespace strid::window {

/// The result of a window when it fires, and when a late record comes after that.
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

}  // namespace strid::window
