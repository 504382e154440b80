// SPDX-License-Identifier: Apache-2.0
//
// The loads of loads.hpp by tasks of OpenMP. Each returns the sum.
#pragma once

#include <cstdint>

#include "loads.hpp"

namespace strid::bench::peers {

/// One thread makes a task for each number.
std::uint64_t openmp_farm(const FarmLoad& load);

/// A stage to which numbers come while it is not at work becomes a task, which hands on what it has
/// made batch by batch: tasks have dependences, but no streams between them.
std::uint64_t openmp_ring(const RingLoad& load);

}  // namespace strid::bench::peers
