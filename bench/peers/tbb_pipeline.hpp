// SPDX-License-Identifier: Apache-2.0
//
// The synthetic pipeline on oneTBB: four stages, on parallel_pipeline and on the flow graph, with
// one record or a hand-made batch of records as the token. Each call owns its tokens, its arena and
// its threads' share of it; the calling thread takes part.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../pipeline_workload.hpp"

namespace strid::bench::peers {

/// Sizes of tokens that are compiled in; anything else throws std::invalid_argument.
inline constexpr std::size_t tbb_token_records[] = {1, 64, 256, 1024};

/// `parallel_pipeline`: source and sink serial in order, map and filter parallel.
PipelineResult run_tbb_parallel_pipeline(std::uint64_t records, std::size_t records_per_token,
                                         std::size_t threads, std::size_t tokens_max = 64);

/// `lightweight`: oneTBB may run a node's body at once in the thread that sends to it.
enum class FlowGraphNodes : std::uint8_t { task_per_node, lightweight };

/// Flow graph: an input node, a limiter that bounds the memory, and three serial function nodes.
PipelineResult run_tbb_flow_graph(std::uint64_t records, std::size_t records_per_token,
                                  std::size_t threads, FlowGraphNodes nodes,
                                  std::size_t tokens_max = 64);

}  // namespace strid::bench::peers
