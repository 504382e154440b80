// SPDX-License-Identifier: Apache-2.0
//
// The reports of a run as lines of JSON, appended to a file while it runs: --metrics FILE
// --metrics-every TIME, and the same for a program that calls start() itself. Owns the file, and a
// thread from begin() to end().
//
// Invariant: a plain file holds whole lines whenever no write is under way. A write that fails
// costs its line, is reported once, and neither ends nor delays the run.
//
//     strid::Running running = strid::start(graph);
//     strid::ReportLog log({.path = "metrics.jsonl", .every = 1s});
//     log.begin(running);
//     running.wait();
//     log.end();
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include <strid/base/destination.hpp>
#include <strid/program/companion.hpp>

namespace strid {

/// The report so far as one JSON object without a line end: the keys of RunReport::to_json(), and
/// before them `time` (UTC, ISO 8601, milliseconds), `running` (false: the figures are those of the
/// end, and exact) and `resident_bytes` (memory of the process). Any thread.
[[nodiscard]] std::string json_status(const Running& running);

/// Options of a ReportLog.
struct ReportLogOptions {
    /// The file; one that is there is replaced. A pipe, a device and `-`, standard output, too.
    std::string path;
    /// From one line to the next; at least 1 ms.
    std::chrono::nanoseconds every = std::chrono::seconds{1};
    /// Called with a sentence where lines are lost, by the thread of the log; empty: nothing is
    /// said.
    std::function<void(const std::string&)> on_warning = {};
};

/// Writes a line every so often while a run goes on, and a last one when it is over. Threads: one,
/// beside that of the log.
class ReportLog final : public Companion {
  public:
    /// Opens the file; what it has stands until begin(). Throws InputOutputError where it cannot be
    /// written, GraphError where `every` is below 1 ms.
    explicit ReportLog(ReportLogOptions options);
    /// As end().
    ~ReportLog() override;

    /// Only a session calls it: warnings without an `on_warning` go to its user.
    void prepare(const CompanionContext& context) override;
    /// Empties the file, and starts the thread. `running` must stay where it is until end().
    void begin(Running& running) override;
    /// Writes the last line, with the figures of now: of the end where the run is over. A reader of
    /// a pipe that does not take it is waited for no longer than 2 s.
    void end() noexcept override;
    /// From the next line on, so much time is between two. Throws GraphError where it is below
    /// 1 ms. Any thread.
    void set_every(std::chrono::nanoseconds every);

  private:
    void follow(const Running& running);
    void append(const Running& running) noexcept;
    void write(const std::string& line);
    void open_again();
    void cut() noexcept;
    void warn(const std::string& text) noexcept;

    ReportLogOptions options_;
    Destination file_;
    std::uint64_t whole_bytes_ = 0;  // of a plain file: behind its last whole line
    bool has_old_lines_ = false;     // of a run before; they stand until this one begins
    bool is_broken_ = false;         // the last write failed
    std::atomic<bool> interrupted_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_ending_ = false;          // under mutex_
    bool is_done_ = false;            // under mutex_
    std::chrono::nanoseconds every_;  // under mutex_
    bool is_changed_ = false;         // under mutex_: every_
    std::thread thread_;              // last: it uses the rest
};

}  // namespace strid
