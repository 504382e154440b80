// SPDX-License-Identifier: Apache-2.0
//
// Runs a set of tasks to their end. Several executions may live in one process; nothing is shared
// between them.
//
// The execution borrows its tasks, owns its threads, and ends them in the destructor. Any thread
// but its own workers may enter start, wait and the destructor (the destructor last); stop,
// cancel, fail and the observers may be entered by any thread, also from inside a step.
//
// Invariant: after wait() returns or throws, no step is running and none will begin.
//
// An execution inside a step of another may do without threads of its own: the threads that wait
// for it step its tasks (Threads::of_callers). Nested executions therefore need no more threads
// than cores, and never wait for a thread that is taken.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <strid/runtime/execution_options.hpp>
#include <strid/runtime/task.hpp>

namespace strid::runtime {

/// The counters of one thread of the execution since start().
struct WorkerCounters {
    std::uint64_t steps = 0;
    std::uint64_t stolen = 0;   // steps of tasks whose home is another worker
    std::uint64_t parks = 0;    // times it went to sleep
    std::int64_t busy_ns = 0;   // time inside steps
    std::int64_t alive_ns = 0;  // time since it started; busy_ns / alive_ns is the utilisation
    int processor = -1;         // the processor it is pinned to; -1: none
};

/// The state of an execution, for a progress line or a report.
struct ExecutionSnapshot {
    struct TaskEntry {
        std::string name;
        TaskCounters counters;
    };
    std::vector<TaskEntry> tasks;  // in the order given to the constructor
    std::vector<WorkerCounters> workers;
    std::size_t tasks_unfinished = 0;
};

/// The threads that step the tasks.
enum class Threads : std::uint8_t {
    own,        ///< The execution's own threads.
    of_callers  ///< The threads inside wait(), wait_for() or help(), one at a time.
};

class Execution {
  public:
    /// True on a thread that is inside a step of some execution.
    [[nodiscard]] static bool inside_a_step() noexcept;

    /// `tasks` in topological order, producers before consumers, which is also the order of
    /// placement. Throws GraphError for options that do not fit this machine or these tasks, and
    /// for a task that another execution had before.
    explicit Execution(std::vector<Task*> tasks, ExecutionOptions options = {},
                       Threads threads = Threads::own);
    /// Cancels what still runs and joins every thread.
    ~Execution();
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;

    /// Starts the threads; every task is runnable. Throws GraphError when called twice, Error when
    /// the system gives no thread (then nothing runs).
    void start();

    /// Returns when every task has finished, or after cancel(). Rethrows the first failure. Throws
    /// GraphError when the execution was never started, and on a thread inside one of its steps,
    /// because that would be a deadlock. May be called again, from many threads.
    void wait();

    /// Returns as wait() would, or after `time` at the latest: true when the execution is over.
    /// Throws nothing; wait() reports a failure.
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds time);

    [[nodiscard]] Threads threads() const noexcept;
    /// For an execution without threads: steps the tasks that are ready, until none is; returns
    /// whether there were any. False also if another thread does so now. Any thread.
    bool help() noexcept;
    /// True on a thread inside a step of this execution: a wait for its end would be a deadlock
    /// here.
    [[nodiscard]] bool is_inside() const noexcept;

    /// False in a child that was forked after the execution was made: its threads do not exist
    /// there, and the destructor leaves their state as it is.
    [[nodiscard]] bool in_its_process() const noexcept;

    /// Asks every task to stop: sources finish, the other tasks drain. Also before start().
    void stop() noexcept;

    /// No further step begins; every task is interrupted.
    void cancel() noexcept;

    /// cancel(); then wait() throws `cause`, unless there was an earlier failure. A step() that
    /// throws does the same.
    void fail(std::exception_ptr cause) noexcept;

    /// True once wait() would not block.
    [[nodiscard]] bool finished() const noexcept;

    [[nodiscard]] ExecutionSnapshot snapshot() const;

    /// Names of the tasks that made no progress in the watchdog's last whole period.
    [[nodiscard]] std::vector<std::string> stalled() const;

  private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace strid::runtime
