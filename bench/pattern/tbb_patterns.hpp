// SPDX-License-Identifier: Apache-2.0
//
// oneTBB's versions of the patterns that pattern_bench measures: numbers from 0 on pass `stages`
// stages that do nothing (or a farm of one such stage), and the last adds them up. Each returns the
// sum.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strid::bench::peers {

/// `stages` serial stages; `parallel` adds one in the middle that any number of threads may be in.
std::uint64_t tbb_parallel_pipeline(std::uint64_t tasks, std::size_t stages, bool parallel);
std::uint64_t tbb_flow_graph(std::uint64_t tasks, std::size_t stages, bool parallel);

}  // namespace strid::bench::peers
