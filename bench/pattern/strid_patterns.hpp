// SPDX-License-Identifier: Apache-2.0
//
// The loads of loads.hpp by this project's patterns. Each returns the sum.
#pragma once

#include <cstdint>

#include "loads.hpp"

namespace strid::bench {

std::uint64_t strid_farm(const FarmLoad& load);
std::uint64_t strid_ring(const RingLoad& load);

}  // namespace strid::bench
