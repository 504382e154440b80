// SPDX-License-Identifier: Apache-2.0
//
// Joins of random inputs in a graph (joins.hpp): their results, sorted.
#pragma once

#include <vector>

#include "joins.hpp"

namespace strid::test {

std::vector<Pair> joined(const Inputs& inputs, JoinInterval interval, JoinKind kind,
                         const RunOptions& options, Shared shared = Shared::by_key,
                         OpenWindows at_end = OpenWindows::fire);

std::vector<InWindow> joined(const Inputs& inputs, const TimeWindows& windows, JoinKind kind,
                             const RunOptions& options, Shared shared,
                             OpenWindows at_end = OpenWindows::fire);

}  // namespace strid::test
