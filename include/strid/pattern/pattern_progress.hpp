// SPDX-License-Identifier: Apache-2.0
//
// A line on the terminal with the progress of a pattern.
//
// Threads: a ProgressLine has one of its own, which reads counters; nothing where there is no
// terminal.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include <strid/engine/base/terminal.hpp>
#include <strid/pattern/pattern_report.hpp>

namespace strid::pattern {

/// "12,345 tasks  1.20 M tasks/s  0:07": tasks that the last nodes have worked on, how many a
/// second since `before`, and how long the pattern has run.
[[nodiscard]] std::string progress_line(const Report& before, const Report& now);

/// Shows the line every 100 ms as long as it lives, where standard error is a terminal.
class ProgressLine {
  public:
    /// `report` is called by the line's thread and is to be callable until the destructor returns.
    explicit ProgressLine(std::function<Report()> report);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

  private:
    void follow();

    Terminal terminal_;
    std::function<Report()> report_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;   // under mutex_
    std::thread thread_;  // last: it uses the rest
};

}  // namespace strid::pattern
