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
// An execution inside a step of another may do without threads of its own: those that wait for it
// step its tasks (Threads::of_callers), so that what is nested needs no more threads than cores and
// never waits for one that is taken.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <strid/runtime/options.hpp>
#include <strid/runtime/task.hpp>

namespace strid::runtime {

/// What one thread of the execution has done since start().
struct WorkerCounters {
    std::uint64_t steps = 0;
    std::uint64_t stolen = 0;   // steps of tasks that have their home with another worker
    std::uint64_t parks = 0;    // times it went to sleep
    std::int64_t busy_ns = 0;   // time inside steps
    std::int64_t alive_ns = 0;  // time since it started; busy_ns / alive_ns is the utilisation
    int processor = -1;         // where it is pinned; -1: nowhere
};

/// Where an execution stands, for a progress line or a report.
struct ExecutionSnapshot {
    struct TaskEntry {
        std::string name;
        TaskCounters counters;
    };
    std::vector<TaskEntry> tasks;  // in the order given to the constructor
    std::vector<WorkerCounters> workers;
    std::size_t tasks_unfinished = 0;
};

/// Which threads step the tasks.
enum class Threads : std::uint8_t {
    own,        ///< Those of the execution.
    of_callers  ///< Those that are inside wait(), wait_for() or help(), one at a time.
};

class Execution {
  public:
    /// True on a thread that is inside a step of some execution.
    [[nodiscard]] static bool inside_a_step() noexcept;

    /// `tasks` in topological order, producers before consumers, which is also the order of
    /// placement. Throws GraphError for options that this machine or these tasks cannot satisfy,
    /// and for a task that an execution had before.
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
    /// GraphError when the execution was never started, and on a thread that is inside one of its
    /// steps, which would wait for itself. May be called again, from many threads.
    void wait();

    /// Returns as wait() would, or after `time` at the latest: true when all is over. Throws
    /// nothing: wait() tells how it ended.
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds time);

    [[nodiscard]] Threads threads() const noexcept;
    /// Of an execution without threads: steps the tasks that are ready, until none is, and returns
    /// whether there were any. False too where another thread does so now. Any thread.
    bool help() noexcept;
    /// True on a thread that is inside a step of this execution: to wait here for what it does
    /// would be to wait for itself.
    [[nodiscard]] bool is_inside() const noexcept;

    /// False in a child that was forked after the execution was made: its threads are not there,
    /// and the destructor lets go of what they may have held.
    [[nodiscard]] bool in_its_process() const noexcept;

    /// Asks every task to stop: sources finish, the rest drains. Before start() too.
    void stop() noexcept;

    /// No step begins after the ones that are running; every task is interrupted.
    void cancel() noexcept;

    /// cancel(), and wait() throws `cause`, unless an earlier failure is there. This is what a
    /// throwing step() does.
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
