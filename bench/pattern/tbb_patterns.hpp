// SPDX-License-Identifier: Apache-2.0
//
// oneTBB's versions of what this folder measures. Each returns the sum.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loads.hpp"

namespace strid::bench::peers {

/// Numbers from 0 on pass `stages` serial stages that do nothing, and the last adds them up;
/// `farmed` adds one in the middle that any number of threads may be in.
struct TbbChain {
    std::uint64_t tasks = 0;
    std::size_t stages = 2;
    bool farmed = false;
    std::uint64_t steps = 0;  ///< Of a task in the middle.
    std::size_t threads = 0;  ///< 0: one for each core.
};

std::uint64_t tbb_parallel_pipeline(const TbbChain& chain);
std::uint64_t tbb_flow_graph(const TbbChain& chain);

/// A ring by a flow graph: its pipelines have no way back.
std::uint64_t tbb_ring(const RingLoad& load);

}  // namespace strid::bench::peers
