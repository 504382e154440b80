// SPDX-License-Identifier: Apache-2.0
//
// The unit that the runtime runs: a task processes one batch per step and returns what it needs
// next.
//
// A task must outlive every thread that may notify it; an Execution borrows it, once in its life.
// step() and wake_at_ns() are entered by one thread at a time (the worker that claimed the task),
// which sees everything that earlier steps wrote. notify(), request_stop(), has_work() and
// counters() may be entered by any thread at any time, also before the task is given to an
// Execution and after that Execution is gone.
//
// Invariant: after every notify() a step begins, unless one began after that notify() already. A
// task may therefore look for work, find none and return `waiting`: work that comes during the step
// is not missed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <strid/engine/base/cache_line.hpp>

namespace strid::runtime {

class Pool;
struct Slot;

/// The result of a step.
enum class [[nodiscard]] StepResult : std::uint8_t {
    progressed,  // did something and may have more to do: runnable again
    waiting,     // nothing to do until the next notify()
    timed,       // like waiting, but runnable again at wake_at_ns() as well
    finished     // never step again
};

/// The counters of a task; every figure only grows.
struct TaskCounters {
    std::uint64_t steps = 0;         // calls of step() that returned
    std::uint64_t idle_periods = 0;  // steps that returned waiting or timed
    std::int64_t busy_ns = 0;        // time inside step()
    std::int64_t idle_ns = 0;        // time between such a return and the next step
    bool finished = false;           ///< It will never be stepped again.
};

/// A unit of work that the runtime steps: one batch a step. A user's operator gets its task in
/// Opened and TasksWanted, and calls notify() on it.
class Task {
  public:
    /// `name` is used in errors, metrics and the watchdog's report.
    explicit Task(std::string name);
    virtual ~Task();
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;

    /// Does a bounded piece of work, about one batch. Must accept being called with nothing to do.
    /// An exception ends the whole execution, which rethrows it. `clock_ns` is the last value of
    /// now_ns(), some microseconds old at most; a step that reads the clock at its end stores the
    /// value there, which saves another reading (20 to 50 ns).
    virtual StepResult step(std::int64_t& clock_ns) = 0;

    /// When to step again after `timed`, on the clock of now_ns(). Read right after the step, by
    /// the thread that made it. A time that has passed means at once.
    [[nodiscard]] virtual std::int64_t wake_at_ns() const noexcept { return 0; }

    /// True for a task whose step may block in the operating system: it gets a thread to itself.
    /// Asked once, when the execution is built.
    [[nodiscard]] virtual bool needs_own_thread() const noexcept { return false; }

    /// True while a thread outside the execution may still notify this task (an inlet, a socket): a
    /// simulation in which nothing can run then waits and does not report a deadlock.
    [[nodiscard]] virtual bool awaits_outside() const noexcept { return false; }

    /// A guess, from any thread, whether there is unread input. Only the watchdog calls it.
    [[nodiscard]] virtual bool has_work() const noexcept { return false; }

    /// A sentence about what stands still although the task steps; empty: nothing. Only the
    /// watchdog's thread calls it: when the run begins, and then once per period.
    [[nodiscard]] virtual std::string standstill() { return {}; }

    /// Any thread: a source finishes at its next step; other tasks drain. The execution notifies
    /// the task afterwards.
    virtual void request_stop() noexcept {}

    /// Any thread, also while a step runs, and maybe more than once: no further step will begin.
    /// Ends the waits for this task outside the execution (a thread at an inlet or outlet) and the
    /// waits of its step.
    virtual void interrupt() noexcept {}

    /// Any thread: makes the task runnable and makes sure that a worker runs it. One atomic
    /// read-modify-write; a system call only if no worker is awake to take the task.
    void notify() noexcept;

    /// For reports and errors.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// Any thread; each figure is exact at some recent moment.
    [[nodiscard]] TaskCounters counters() const noexcept;

  private:
    friend class Pool;

    std::string name_;
    std::shared_ptr<Pool> pool_;        // keeps the slot alive for late notifications
    std::atomic<Slot*> slot_{nullptr};  // published once, by the execution
};

}  // namespace strid::runtime
