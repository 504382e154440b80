// SPDX-License-Identifier: Apache-2.0
//
// The result of window::collect.
#pragma once

#include <cstdint>
#include <vector>

namespace strid::window {

/// The result of collect(): values in the order of time, and the number of values that found no
/// room.
template <class Value>
struct CollectedValues {
    std::vector<Value> values;   ///< At most the requested number of values.
    std::uint64_t left_out = 0;  ///< The number of values that were not kept.
    friend bool operator==(const CollectedValues&, const CollectedValues&) = default;
};

}  // namespace strid::window
