// SPDX-License-Identifier: Apache-2.0
//
// Assigns tasks to threads, and threads to processors: a pure function of the options, the machine
// and the number of tasks. After paper 2, section 4.4: the tasks come in the order of a depth-first
// visit, and neighbours in that order get the same worker or neighbouring cores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <strid/base/topology.hpp>
#include <strid/runtime/execution_options.hpp>
#include <strid/runtime/task.hpp>

namespace strid::runtime {

struct Placement {
    /// The tasks of one pool and, for each of its workers, the processors to stay on (empty: any).
    struct PoolPlan {
        std::vector<std::uint32_t> tasks;  // numbers of tasks, ascending
        std::vector<std::uint32_t> homes;  // for each of them
        std::vector<std::vector<int>> processors;
        /// The processor on which each worker begins, free to leave it; empty if the system may
        /// choose. The system tends to start new threads on the processor of the creating thread,
        /// and checks only some milliseconds later whether another processor is idle.
        std::vector<int> begin_on = {};
    };
    std::vector<PoolPlan> pools;
    std::size_t threads = 0;
};

/// Throws GraphError when the options do not fit the tasks or the machine.
[[nodiscard]] Placement place(std::span<Task* const> tasks, const ExecutionOptions& options,
                              const Topology& topology);

}  // namespace strid::runtime
