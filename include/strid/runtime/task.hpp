// SPDX-License-Identifier: Apache-2.0
//
// What the runtime runs: a task takes one batch per step and says what it needs next.
//
// A task is owned by whoever built it and must outlive every thread that may notify it; an
// Execution borrows it, once in its life. step() and wake_at_ns() are entered by one thread at a
// time (whichever worker claimed the task), with everything earlier steps wrote visible. notify(),
// request_stop(), has_work() and counters() may be entered by any thread at any time, also before
// the task is given to an Execution and after that Execution is gone.
//
// The law: a step begins after every notify() that no earlier step began after. So a task looks
// for work, finds none, returns `waiting`, and work that comes during the step is not missed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <strid/base/cache_line.hpp>

namespace strid::runtime {

/// The earlier of two times to be woken at; 0 stands for never.
[[nodiscard]] inline std::int64_t earlier_wake(std::int64_t a, std::int64_t b) noexcept {
    if (a == 0 || b == 0) return a + b;
    return a < b ? a : b;
}

class Pool;
struct Slot;

/// What a step leaves behind.
enum class [[nodiscard]] StepResult : std::uint8_t {
    progressed,  // did something and may have more to do: runnable again
    waiting,     // nothing to do until somebody calls notify()
    timed,       // like waiting, but runnable again at wake_at_ns() as well
    finished     // never step again
};

/// What a task has done so far; every figure only grows.
struct TaskCounters {
    std::uint64_t steps = 0;         // calls of step() that returned
    std::uint64_t idle_periods = 0;  // steps that returned waiting or timed
    std::int64_t busy_ns = 0;        // time inside step()
    std::int64_t idle_ns = 0;        // time between such a return and the next step
    bool finished = false;           ///< It will never be stepped again.
};

/// A unit of work that the runtime steps: one batch a step. Operators of one's own meet it in
/// Opened and TasksWanted, for notify().
class Task {
  public:
    /// `name` is for people: errors, metrics, the watchdog's report.
    explicit Task(std::string name);
    virtual ~Task();
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;

    /// Does a bounded piece of work, about one batch. Must tolerate being called with nothing to
    /// do. Throwing ends the whole execution with that exception. `clock_ns` is what now_ns() gave
    /// last, some microseconds ago at most; a step that reads the clock at its end leaves there
    /// what it read, so that nobody needs to read it again (20 to 50 ns).
    virtual StepResult step(std::int64_t& clock_ns) = 0;

    /// When to step again after `timed`, on the clock of now_ns(). Read right after the step, by
    /// the thread that made it. A time that has passed means at once.
    [[nodiscard]] virtual std::int64_t wake_at_ns() const noexcept { return 0; }

    /// True for a task whose step may block in the operating system: it gets a thread to itself.
    /// Asked once, when the execution is built.
    [[nodiscard]] virtual bool needs_own_thread() const noexcept { return false; }

    /// True while somebody outside the execution may still notify this task (an inlet, a socket):
    /// then a simulation in which nothing can run waits instead of reporting a deadlock.
    [[nodiscard]] virtual bool awaits_outside() const noexcept { return false; }

    /// A guess, from any thread, whether input lies waiting. Only the watchdog asks.
    [[nodiscard]] virtual bool has_work() const noexcept { return false; }

    /// What stands still although the task steps, as a sentence; empty: nothing. Only the
    /// watchdog's thread asks: when the run begins, and then once per period.
    [[nodiscard]] virtual std::string standstill() { return {}; }

    /// Any thread: a source finishes at its next step; everything else drains. The execution
    /// notifies the task afterwards.
    virtual void request_stop() noexcept {}

    /// Any thread, also while a step runs, and maybe more than once: no step will begin any more.
    /// Ends what waits for this task outside the execution (a thread at a door) and what its step
    /// waits for.
    virtual void interrupt() noexcept {}

    /// Any thread: makes the task runnable and sees to it that a worker comes. One atomic
    /// read-modify-write; a system call only where nobody is awake to take the task.
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
