// SPDX-License-Identifier: Apache-2.0
//
// Whether a run is being stopped: a sink that its readers hold back must know, because a run that
// is stopped waits for its sinks. Beside RunScope, which every program includes. Any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include <strid/operator/run_scope.hpp>

namespace strid {

enum class RunStop : std::uint8_t {
    none,
    stopped,   ///< The sources stop, or a last snapshot is taken; rows that were read are
               ///< still written.
    cancelled  ///< By cancel(): nothing is waited for.
};

class StopOfRun;

/// Those of all runs of the process.
class RunStops {
  public:
    [[nodiscard]] static RunStops& of_process() {
        static RunStops all;
        return all;
    }
    /// `run` may be null: it is not stopped.
    [[nodiscard]] inline RunStop of(const RunScope* run) noexcept;

  private:
    friend class StopOfRun;

    std::mutex mutex_;
    std::vector<const StopOfRun*> runs_;  // under mutex_
};

/// Owned by the run, behind its scope.
class StopOfRun {
  public:
    explicit StopOfRun(const RunScope& run) : run_(&run) {
        RunStops& all = RunStops::of_process();
        const std::lock_guard lock(all.mutex_);
        all.runs_.push_back(this);
    }
    ~StopOfRun() {
        RunStops& all = RunStops::of_process();
        const std::lock_guard lock(all.mutex_);
        all.runs_.erase(std::find(all.runs_.begin(), all.runs_.end(), this));
    }
    StopOfRun(const StopOfRun&) = delete;
    StopOfRun& operator=(const StopOfRun&) = delete;

    // Relaxed: the state orders nothing, and those that wait look again.
    void stop() noexcept {
        auto before = RunStop::none;
        state_.compare_exchange_strong(before, RunStop::stopped, std::memory_order_relaxed);
    }
    void cancel() noexcept { state_.store(RunStop::cancelled, std::memory_order_relaxed); }

  private:
    friend class RunStops;

    const RunScope* const run_;
    std::atomic<RunStop> state_{RunStop::none};
};

RunStop RunStops::of(const RunScope* run) noexcept {
    const std::lock_guard lock(mutex_);
    for (const StopOfRun* const one : runs_) {
        if (one->run_ == run) return one->state_.load(std::memory_order_relaxed);
    }
    return RunStop::none;
}

}  // namespace strid
