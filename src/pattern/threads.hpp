// SPDX-License-Identifier: Apache-2.0
//
// How many threads there are where none are asked for.
#pragma once

#include <cstddef>

#include <strid/base/topology.hpp>

namespace strid::pattern {

/// 0: one for each core that this process may use.
[[nodiscard]] inline std::size_t threads_or_cores(std::size_t asked) {
    if (asked != 0) return asked;
    const Topology topology = Topology::detect();
    return topology.cores().size();
}

}  // namespace strid::pattern
