// SPDX-License-Identifier: Apache-2.0
//
// A set of workers that share a set of tasks: the states of the tasks, their timers, and the places
// where the workers sleep. A cooperative execution has one pool of many workers; a task with a
// thread of its own is a pool of one worker and one task.
//
// Owned jointly by the execution and by its tasks, so that a late notification still finds its
// words. Any thread may enter any function; the members of Slot state their threads.
//
// Tasks are grouped by home worker and keep their order within it, so that "the highest number that
// is ready" means "the most downstream consumer".
//
// Invariant of the timers: next_deadline() <= the deadline of every armed slot, except while the
// thread that took next_deadline() down is still walking the slots.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/runtime/task_states.hpp>
#include <strid/runtime/task.hpp>

#include "futex.hpp"
#include "parking_lot.hpp"

namespace strid::runtime {

/// A task's place in its pool.
struct alignas(cache_line_bytes) Slot {
    // Line 1: fixed before the threads start.
    Task* task = nullptr;
    Pool* pool = nullptr;
    TaskStates* states = nullptr;
    unsigned bit = 0;           // in `states`
    std::uint32_t home = 0;     // the worker that runs it by preference
    std::uint32_t at_home = 0;  // its number among the tasks of that home
    std::uint32_t rank = 0;     // its number in the execution: producers below consumers

    // Line 2: written by the thread that has claimed the task; atomics may be read by any.
    alignas(cache_line_bytes) std::int64_t waiting_since_ns = 0;  // 0: it is not waiting
    std::int64_t step_ns_mean = 0;                                // over about 8 steps
    std::atomic<std::int64_t> deadline_ns{never_ns};
    std::atomic<std::uint64_t> steps{0};
    std::atomic<std::uint64_t> idle_periods{0};
    std::atomic<std::int64_t> busy_ns{0};
    std::atomic<std::int64_t> idle_ns{0};
    std::atomic<bool> finished{false};
};
static_assert(sizeof(Slot) == 2 * cache_line_bytes);

/// Adds to a counter that one thread at a time writes and any thread reads.
template <class T>
void add_relaxed(std::atomic<T>& counter, T amount) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

class Pool {
  public:
    /// One task for the pool: its home is below `workers`, its rank is its place among all tasks.
    struct Member {
        Task* task = nullptr;
        std::uint32_t home = 0;
        std::uint32_t rank = 0;
    };

    /// Gives every task its slot. `members` in topological order; no task has a slot yet.
    static std::shared_ptr<Pool> create(std::span<const Member> members, std::size_t workers);

    /// True when the task has been given to a pool.
    static bool has_slot(const Task& task) noexcept;

    [[nodiscard]] ParkingLot& parking_lot() noexcept { return parking_lot_; }
    [[nodiscard]] std::span<Slot> slots() noexcept { return {slots_.get(), slot_count_}; }
    [[nodiscard]] std::size_t workers() const noexcept { return homes_.size(); }
    [[nodiscard]] std::uint32_t tasks_of(std::size_t home) const noexcept {
        return homes_[home].tasks;
    }

    /// The implementation of Task::notify().
    void notify(Slot& slot) noexcept;

    /// Claims the ready task of `home` with the highest number in [low, high); nullptr: none.
    Slot* claim_between(std::size_t home, std::uint32_t low, std::uint32_t high) noexcept;
    /// Claims a ready task of any home, the nearest to `worker` first.
    Slot* claim_anywhere(std::size_t worker) noexcept;
    /// Claims this task if it is ready.
    static bool claim(Slot& slot) noexcept;

    [[nodiscard]] bool any_ready_of(std::size_t home) const noexcept;
    [[nodiscard]] bool any_ready() const noexcept;

    /// The claimed task must run again at `at_ns` at the latest. Call before the task is released.
    void arm(Slot& slot, std::int64_t at_ns) noexcept;
    [[nodiscard]] std::int64_t next_deadline() const noexcept {
        return next_deadline_ns_.load(std::memory_order_seq_cst);  // pairs with arm()
    }
    /// Notifies every task whose deadline has passed.
    void fire_timers(std::int64_t now) noexcept;

    /// The deadline for which a sleeping worker wakes by itself; never_ns: none. A hint: it only
    /// decides whether a long step is worth waking another worker to watch the timers.
    [[nodiscard]] std::atomic<std::int64_t>& alarm() noexcept { return alarm_ns_; }

    /// One more task is over; after the last one the pool ends.
    void task_finished() noexcept;

    /// No further step begins; every sleeper wakes and leaves.
    void end() noexcept;
    [[nodiscard]] bool ending() const noexcept {
        return ending_.load(std::memory_order_seq_cst);  // pairs with end()
    }

  private:
    struct Home {
        std::uint32_t groups_begin = 0;  // in groups_
        std::uint32_t slots_begin = 0;   // in slots_
        std::uint32_t tasks = 0;
    };

    Pool(std::span<const Member> members, std::size_t workers);
    void lower_next_deadline(std::int64_t at_ns) noexcept;

    std::vector<Home> homes_;
    std::unique_ptr<TaskStates[]> groups_;
    std::size_t group_count_ = 0;
    std::unique_ptr<Slot[]> slots_;
    std::size_t slot_count_ = 0;
    ParkingLot parking_lot_;
    std::atomic<std::size_t> unfinished_;
    std::atomic<bool> ending_{false};
    // A line of its own: read by every worker after every step, written by timed tasks.
    alignas(cache_line_bytes) std::atomic<std::int64_t> next_deadline_ns_{never_ns};
    std::atomic<std::int64_t> alarm_ns_{never_ns};
};

}  // namespace strid::runtime
