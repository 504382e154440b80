// SPDX-License-Identifier: Apache-2.0
//
// A command and everything that it starts, seen through /proc: their resident memory over time, the
// programs that they are, and their end. Orphans belong to it too, because the process that calls
// is their subreaper. For one thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace strid::memory_run {

/// Every living descendant of this process, parents first. Costs two system calls for each
/// process and two for each of its threads. Without lists of children in /proc
/// (CONFIG_PROC_CHILDREN): none.
[[nodiscard]] std::vector<pid_t> descendants();

/// Kills all descendants and takes their exit statuses; returns how many were killed.
int end_descendants();

/// Resident bytes of a tree of processes, sampled. The mean is over time: a sample counts until the
/// next one. Pages that two processes share count in both, as in paper 3, section III.B.
class ResidentSampler {
  public:
    /// `period_ns` is the longest pause between two samples; the first ones come faster, and none
    /// takes more than a fiftieth of the time.
    ResidentSampler(std::int64_t start_ns, std::int64_t period_ns);

    /// The time until the next sample is due, 0 where it is.
    [[nodiscard]] std::int64_t wait_ns(std::int64_t now_ns) const noexcept;
    void sample();
    void finish(std::int64_t end_ns) noexcept;

    [[nodiscard]] std::int64_t peak_bytes() const noexcept { return peak_bytes_; }
    /// Negative where fewer than three samples were taken.
    [[nodiscard]] std::int64_t mean_bytes() const noexcept;
    [[nodiscard]] int samples() const noexcept { return samples_; }
    /// The executable files that were seen running.
    [[nodiscard]] const std::set<std::string>& programs() const noexcept { return programs_; }

  private:
    std::int64_t start_ns_;
    std::int64_t period_ns_;
    std::int64_t next_ns_;
    std::int64_t last_ns_ = 0;
    std::int64_t last_bytes_ = 0;
    std::int64_t peak_bytes_ = 0;
    double byte_ns_ = 0;
    std::int64_t covered_ns_ = 0;
    int samples_ = 0;
    std::string own_program_;
    std::set<std::string> programs_;
};

/// The monotonic clock.
[[nodiscard]] std::int64_t now_ns() noexcept;

}  // namespace strid::memory_run
