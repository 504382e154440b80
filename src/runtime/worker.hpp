// SPDX-License-Identifier: Apache-2.0
//
// One thread of a pool: picks a ready task, steps it, and decides what to run next, which worker to
// wake and when to sleep.
//
// The order of picking, of which the first that exists is taken:
// 1. the consumer that the last step made ready, whose input is still in this core's cache;
// 2. the most downstream ready task of this worker;
// 3. the task that it has just stepped;
// 4. a ready task of another worker. Every eighth pick takes the worker's tasks in turn, so that
//    none starves.
//
// Waking others: the notifications of a step wake no worker while this one gets to the tasks soon.
// Another worker is woken when this one has been busy for eight picks in a row and leaves ready
// work behind. It is also woken when this one is about to enter, or inside, a step that takes long,
// or of unknown length. At a low rate one worker therefore does everything without a system call;
// under load all are awake.
//
// run() is for the worker's own thread; counters() for any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/runtime/execution.hpp>
#include <strid/runtime/execution_options.hpp>

#include "pool.hpp"

namespace strid::runtime {

/// Receives the exception of a step that threw. Entered by any worker's thread.
class Host {
  public:
    virtual void task_failed(std::exception_ptr cause) noexcept = 0;

  protected:
    ~Host() = default;
};

class alignas(cache_line_bytes) Worker {
  public:
    struct Settings {
        std::size_t number = 0;  // in the pool
        ExecutionOptions::Waiting waiting = ExecutionOptions::Waiting::park;
        bool yields = false;          // there are more threads than cores
        std::vector<int> processors;  // to stay on; empty: anywhere
        int begin_on = -1;            // one of them, free to leave it; -1: any
    };

    Worker(Pool& pool, Host& host, Settings settings);

    /// Runs until the pool ends.
    void run() noexcept;
    /// Runs until no task of the pool is ready, on a thread of a caller, which may be inside a step
    /// of another pool. True if any task was.
    bool run_ready() noexcept;

    /// Binds the calling thread to the processors of the settings, and makes its sleeps punctual.
    void settle() noexcept;

    /// The worker of the calling thread; nullptr: none.
    static Worker* current() noexcept;
    /// While it lives, the calling thread belongs to this worker; then to the one before, if it is
    /// inside a step of that.
    class AtWork {
      public:
        explicit AtWork(Worker& worker) noexcept;
        ~AtWork();
        AtWork(const AtWork&) = delete;
        AtWork& operator=(const AtWork&) = delete;

      private:
        Worker* before_;
    };
    [[nodiscard]] bool works_for(const Pool& pool) const noexcept { return &pool_ == &pool; }

    /// `slot` became ready inside a step of this worker: this worker runs it, or wakes another.
    void made_ready(Slot& slot) noexcept;

    /// Steps a claimed task and releases it accordingly. True: it progressed and is still
    /// claimed.
    bool step(Slot& slot) noexcept;

    /// Sleeps until it is woken, a timer is near, or there is work. A woken worker counts as
    /// searching, until stop_searching().
    void park() noexcept;
    void stop_searching() noexcept;

    [[nodiscard]] WorkerCounters counters() const noexcept;

  private:
    /// The task to run after `current`, which progressed and is still claimed unless another is
    /// picked; nullptr: none.
    Slot* go_on_with(Slot* current) noexcept;
    Slot* pick(Slot* current) noexcept;
    Slot* pick_own(Slot* current) noexcept;
    Slot* search() noexcept;
    Slot* spin() noexcept;
    void share(bool left_behind) noexcept;
    void share_before(const Slot& slot) noexcept;
    void wake(std::size_t preferred) noexcept;
    void account(Slot& slot, std::int64_t began_ns) noexcept;

    // Fixed or this thread's own.
    Pool& pool_;
    Host& host_;
    ParkingLot& parking_lot_;
    Settings settings_;
    Slot* hot_ = nullptr;  // made ready by the last step, runs next
    Slot* stepping_ = nullptr;
    std::int64_t spin_ns_;        // before it sleeps
    std::int64_t now_ns_ = 0;     // as of the end of the last step, search or waking
    std::int64_t waking_ns_ = 0;  // spent on others inside the present step
    std::uint64_t picks_ = 0;
    std::uint64_t picks_since_idle_ = 0;
    std::uint32_t cursor_ = 0;  // the last of its own tasks that had a turn
    bool searching_ = false;    // counted as such in the parking lot

    // Written by this thread, read by any.
    alignas(cache_line_bytes) std::atomic<std::uint64_t> steps_{0};
    std::atomic<std::uint64_t> stolen_{0};
    std::atomic<std::uint64_t> parks_{0};
    std::atomic<std::int64_t> busy_ns_{0};
    std::atomic<std::int64_t> started_ns_{0};
    std::atomic<std::int64_t> ended_ns_{0};
    std::atomic<int> processor_{-1};
};

}  // namespace strid::runtime
