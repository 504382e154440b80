// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/window/operators/gaps.hpp>

namespace strid::window::detail {

void throw_gap_too_wide(std::uint64_t windows, std::uint64_t windows_max) {
    throw Error(fmt::format(
        "{} windows without a record lie between two of a key, and at most {} are filled: a time "
        "far from the others may be wrong",
        windows, windows_max));
}

}  // namespace strid::window::detail
