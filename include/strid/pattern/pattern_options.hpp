// SPDX-License-Identifier: Apache-2.0
//
// The options of the run of a pattern. A plain value.
#pragma once

#include <cstddef>

#include <strid/runtime/execution_options.hpp>

namespace strid::pattern {

/// The options of the run of a pattern. The defaults suit most programs.
struct Options {
    /// Threads: one for each core; inside a node of another pattern, or a loop or a task of a Team,
    /// none: it is then stepped by the threads that wait for it. A farm without a given number of
    /// workers has as many.
    runtime::ExecutionOptions execution = {};
    /// Tasks that may wait between two nodes; 0: what fills 32 KiB, 16 to 2,048 of them.
    std::size_t lane_tasks = 0;
    /// run() shows a line of progress, where standard error is a terminal.
    bool show_progress = false;
};

}  // namespace strid::pattern
