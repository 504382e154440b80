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
// Threads: any may run jobs, at the same time too; the destructor is the last.
//
// Invariant: a thread takes part in a job only while it is counted in the job's place, and the
// place is given up before the count is read: so a count of 0 after that says that no thread
// is inside or will be.
#pragma once

#include <atomic>
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

/// Threads for parallel loops and divided problems, started once. Any thread gives work, and takes
/// part in it.
class Team {
  public:
    /// `threads` work on a job, the one that runs it among them; 0: one for each core.
    explicit Team(std::size_t threads = 0);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    /// How many threads take part in a job, with the one that gives it.
    [[nodiscard]] std::size_t threads() const noexcept { return helpers_.size() + 1; }

    /// Returns when all of the job is done.
    void run(Job& job) noexcept;

  private:
    class Helper;
    /// Where a job lies open for helpers.
    struct alignas(cache_line_bytes) Place {
        std::atomic<Job*> job{nullptr};
        std::atomic<std::uint32_t> inside{0};
    };
    static constexpr std::size_t place_count = 64;

    /// Takes part in an open job, if one has parts left. `from` is the place to look at first.
    bool help(unsigned from) noexcept;
    void wake_idle() noexcept;
    /// No part of the job in the place is left to begin.
    void close(unsigned place) noexcept;
    void leave(Place& place) noexcept;
    void wait_until_left(Place& place, unsigned number) noexcept;
    [[nodiscard]] int claim_place() noexcept;

    std::unique_ptr<Place[]> places_ = std::make_unique<Place[]>(place_count);
    alignas(cache_line_bytes) std::atomic<std::uint64_t> open_{0};  // a bit for each place
    alignas(cache_line_bytes) std::atomic<std::uint64_t> used_{0};  // the same: claimed
    std::vector<std::unique_ptr<Helper>> helpers_;
    std::unique_ptr<runtime::Execution> execution_;  // first to go
};

}  // namespace strid::pattern
