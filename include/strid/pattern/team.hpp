// SPDX-License-Identifier: Apache-2.0
//
// A team of threads that share loops and calls (pattern/parallel_for.hpp,
// pattern/divide_and_conquer.hpp). They are started once and sleep while there is nothing to do, so
// that a loop of some microseconds pays.
//
// A job is work that several threads may take part in. The thread that runs it takes part from the
// beginning and returns when all of it is done; threads of the team that have nothing to do join. A
// job may run other jobs: a thread that waits for the last part of one takes part in others, so
// that no thread waits for work that has not begun.
//
// A job that is kept has parts that come over time, such as a graph of tasks: its place opens when
// it has some and closes when it has none.
//
// Threads: any may run jobs, at the same time too; the destructor is the last.
//
// Invariant: a thread takes part in a job only while it is counted in the job's place, and the
// place is given up before the count is read: so a count of 0 after that says that no thread
// is inside or will be.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/runtime/execution.hpp>

namespace strid::pattern {

/// Work that several threads of a team may take part in: `take_part` is called by each that does.
class Job {
  public:
    Job() = default;
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    /// Works until every part has begun; false where every part had. By several
    /// threads at once.
    virtual bool take_part() noexcept = 0;

  protected:
    ~Job() = default;
};

/// The threads of a team and their places.
struct TeamOptions {
    /// Threads that work on a job, the one that runs it among them; 0: one for each core.
    std::size_t threads = 0;
    /// Each of the team's own threads stays on one core, the first of them on the second core in
    /// the order of Topology::cores(): the first is left to the thread that runs jobs, which the
    /// team does not place. With more threads than cores, several are on one.
    bool pin = false;
};

/// Threads for parallel loops, divided problems and graphs of tasks, started once. Any thread gives
/// work, and takes part in it.
class Team {
  public:
    /// `threads` work on a job, the one that runs it among them; 0: one for each core.
    explicit Team(std::size_t threads = 0);
    /// Throws Error where the system gives no thread.
    explicit Team(const TeamOptions& options);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    /// How many threads take part in a job, with the one that gives it.
    [[nodiscard]] std::size_t threads() const noexcept { return helpers_.size() + 1; }

    /// Returns when all of the job is done.
    void run(Job& job) noexcept;

    /// True on a thread that is inside a job of some team, so that a pattern that it starts takes
    /// no threads of its own.
    [[nodiscard]] static bool inside_a_job() noexcept;
    /// As long as it lives, its thread is inside a job.
    class Inside {
      public:
        Inside() noexcept;
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;
        ~Inside();
    };

    // ---- for jobs that are kept (engine/pattern/task_graph_state.hpp) --------------------------

    /// A place for a job until give_up(), closed at first; -1: the team has no threads of its own,
    /// or all places are taken, and only threads that wait for the job do it. `place` is written
    /// before any thread can take part: one that saw the place open for an earlier job may at once.
    void keep(Job& job, int& place) noexcept;
    /// The job has got a part: a thread that has nothing to do is woken. Any thread.
    void open(int place) noexcept;
    /// The job has no part at the moment. A thread that calls it then looks for parts once more,
    /// because one may have come before the place was closed.
    void close(int place) noexcept;
    /// Returns when no thread takes part in the job. It must have no parts.
    void give_up(int place) noexcept;
    /// Takes part in another job, for a thread that waits for the kept job of `place`: false where
    /// none has parts.
    bool help_others(int place) noexcept;
    /// For such a thread: sleeps until wake_waiting() or until another job has parts, unless
    /// `ready()`, which is asked after the thread has become known as one that waits.
    template <std::predicate Ready>
    void sleep_unless(int place, const Ready& ready) {
        waiting_.fetch_add(1, std::memory_order_seq_cst);  // pairs with wake_waiting()
        const std::uint32_t changes = changes_.load(std::memory_order_acquire);  // pairs: the same
        if (!ready() && !others_are_open(place)) {
            changes_.wait(changes, std::memory_order_acquire);  // pairs with wake_waiting()
        }
        waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
    /// Something changed that such threads may wait for. Any thread.
    void wake_waiting() noexcept {
        if (waiting_.load(std::memory_order_seq_cst) == 0) return;  // pairs with sleep_unless()
        changes_.fetch_add(1, std::memory_order_release);           // pairs with sleep_unless()
        changes_.notify_all();
    }
    /// Whether this thread takes part in a job while it waits for another one. It then returns
    /// after one part of a kept job.
    [[nodiscard]] static bool is_waiting() noexcept;

  private:
    class Helper;
    /// Where a job lies open for helpers.
    struct alignas(cache_line_bytes) Place {
        std::atomic<Job*> job{nullptr};
        std::atomic<std::uint32_t> inside{0};
        bool kept = false;  // written before the job
    };
    static constexpr unsigned place_count = 64;

    /// Takes part in an open job, if one has parts left. `from` is the place to look at first.
    bool help(unsigned from) noexcept;
    /// Wakes so many threads that have nothing to do.
    void wake_idle(std::size_t most) noexcept;
    /// No part of the job in the place is left to begin.
    void close_place(unsigned place) noexcept;
    void leave(Place& place) noexcept;
    void wait_until_left(Place& place, unsigned number) noexcept;
    [[nodiscard]] bool others_are_open(int place) const noexcept;
    /// Help by a thread that waits.
    bool help_in_wait(unsigned from) noexcept;
    /// An empty place, closed; -1: all are taken.
    [[nodiscard]] int claim_place(bool kept) noexcept;
    /// From here on threads may enter the job.
    void fill_place(unsigned place, Job& job) noexcept;
    /// No thread enters the job any more; returns when none is inside.
    void clear_place(unsigned place) noexcept;

    std::unique_ptr<Place[]> places_ = std::make_unique<Place[]>(place_count);
    alignas(cache_line_bytes) std::atomic<std::uint64_t> open_{0};     // a bit for each place
    alignas(cache_line_bytes) std::atomic<std::uint64_t> used_{0};     // the same: claimed
    alignas(cache_line_bytes) std::atomic<std::uint32_t> waiting_{0};  // threads that may sleep
    std::atomic<std::uint32_t> changes_{0};
    std::vector<std::unique_ptr<Helper>> helpers_;
    std::unique_ptr<runtime::Execution> execution_;  // first to go
};

}  // namespace strid::pattern
