// SPDX-License-Identifier: Apache-2.0
//
// How an execution runs its tasks. The defaults fit nearly always. A plain value, read once by the
// constructor of Execution.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace strid::runtime {

/// How an execution ended.
struct ExecutionEnd {
    std::exception_ptr failure = nullptr;  // what wait() throws
    bool cancelled = false;                // by cancel() or by the failure: work was left undone
};

/// How tasks are run and how threads wait. A plain value.
struct ExecutionOptions {
    /// Which threads step the tasks.
    enum class Mode : std::uint8_t {
        cooperative,  // a worker per core, each runs many tasks
        dedicated,    // a thread per task (the model of paper 2, section 4.4)
        simulation    // one thread, seeded random order, replayable
    };
    /// How an idle thread waits.
    enum class Waiting : std::uint8_t {
        park,  // spin for some microseconds, then sleep in the kernel
        spin   // never sleep; yields the core when there are more threads than cores
    };

    Mode mode = Mode::cooperative;  ///< Which threads step the tasks.

    /// Cooperative: number of workers. 0: one per core that this process may use.
    std::size_t workers = 0;

    Waiting waiting = Waiting::park;  ///< How an idle thread waits.

    /// True: every worker or dedicated thread stays on one core, neighbours in task order on
    /// neighbouring cores. False: tasks keep to their workers just the same. If the workers then
    /// fill the machine and it has several groups of cores that share a cache, each worker keeps to
    /// its group and the kernel chooses the core; that tolerates other busy programs better.
    bool pin = false;

    /// Explicit affinity: for every task, in order, the number of the processor (as in taskset)
    /// that it runs on. Empty: by topology. Cooperative: there is a worker on each processor named,
    /// which is the home of its tasks. Processors that do not exist are a GraphError.
    std::vector<int> affinity{};

    /// Simulation: the same tasks with the same seed take the same steps.
    std::uint64_t seed = 0;

    /// Period after which a task counts as stalled: it has work, or is inside a step, and no step
    /// of it ended; or it reports a standstill itself. 0: no watchdog.
    std::chrono::milliseconds watchdog{0};

    /// Called by the watchdog's thread once per period in which tasks are stalled, with their
    /// names, and with a sentence for a standstill of a task that steps (Task::standstill). It may
    /// call Execution::cancel(); an exception ends the execution like that of a step. May be empty:
    /// Execution::stalled() returns the same.
    std::function<void(const std::vector<std::string>&)> on_stalled{};

    /// Called once, by the last thread of the execution, when no step runs or will begin, before
    /// finished() is true and wait() returns; not if start() threw. It must not call wait() nor
    /// destroy the execution. wait() throws its exception, unless there was a failure before.
    std::function<void(const ExecutionEnd&)> on_end{};
};

}  // namespace strid::runtime
