// SPDX-License-Identifier: Apache-2.0
//
// What a run looks like to a person: the progress line, the summary, and the terminal they go to.
// The formatting functions are pure. A Terminal may be used by several threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include <strid/graph/report.hpp>

namespace strid {

/// "12.3 M", "431 k", "87": three significant digits.
[[nodiscard]] std::string format_quantity(double quantity);
/// "850 ns", "31 us", "3.1 ms", "2.4 s": three significant digits.
[[nodiscard]] std::string format_latency(std::int64_t ns);
/// "0:07", "1:02:33".
[[nodiscard]] std::string format_clock(double seconds);
/// "12,345,678".
[[nodiscard]] std::string format_count(std::uint64_t count);

/// How far a run is, as one line: the rate since `before`, latency, the part done, the time left.
[[nodiscard]] std::string progress_line(const RunReport& before, const RunReport& now,
                                        double bytes_per_second);

/// What a run came to, some lines. `how` says how it ended: "done", "stopped", "cancelled".
[[nodiscard]] std::string summary(const RunReport& report, std::uint64_t bytes,
                                  std::string_view how);

/// Standard error as a place for a line that changes and for messages between.
class Terminal {
  public:
    Terminal() noexcept;
    ~Terminal() { clear(); }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    /// True where somebody looks at it.
    [[nodiscard]] bool interactive() const noexcept { return interactive_; }
    /// Replaces the line that changes; nothing where nobody looks.
    void show(const std::string& line);
    void clear();
    /// A message that stays, whole lines.
    void say(const std::string& text);
    /// The same where it is a terminal, from a thread that must not wait: nothing where the
    /// terminal is stopped (Ctrl-S), as with the line that changes.
    void hint(const std::string& text);

  private:
    [[nodiscard]] bool takes_text() const noexcept;

    const bool interactive_;
    std::mutex mutex_;
    bool shown_ = false;  // under mutex_
};

}  // namespace strid
