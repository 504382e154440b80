// SPDX-License-Identifier: Apache-2.0
//
// One run of a command: from its fork to the end of all that it started. Owns the child, the
// counter and the samples. For one thread, which has SIGCHLD and SIGTERM in a signalfd and is the
// subreaper of its descendants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "event_counter.hpp"
#include "process_tree.hpp"

namespace strid::memory_run {

struct RunSettings {
    CommandSettings command;
    std::vector<int> own_processors;
    int channel = -1;  // a socket; the run is ended when its other end closes
    std::int64_t sample_ns = 10'000'000;
    std::int64_t timeout_ns = 0;  // 0: none
    std::optional<std::uint64_t> event;
};

class MeasuredRun {
  public:
    /// Starts the command. `signals` is the signalfd.
    MeasuredRun(const RunSettings& settings, int signals);

    /// Waits for the end and returns what was measured, a JSON object in a line.
    std::string measure();

  private:
    struct Result {
        int status = 0;  // as waitpid gives it
        bool timed_out = false;
        bool abandoned = false;
        int failure = 0;
        int left_behind = 0;
        std::int64_t wall_ns = 0;
        double user_s = 0;
        double system_s = 0;
        std::int64_t peak_bytes = 0;
        std::int64_t minor_faults = 0;
        std::int64_t major_faults = 0;
    };

    void wait();
    void take_signals();
    void reap();
    /// Whether a process still runs that the command left; after the grace it is killed.
    bool wait_for_orphans();
    [[nodiscard]] std::string text() const;

    const RunSettings& settings_;
    int signals_;
    Command command_;
    std::optional<EventCounter> counter_;
    std::int64_t start_ns_;
    ResidentSampler sampler_;
    Result result_;
    bool main_ended_ = false;
};

}  // namespace strid::memory_run
