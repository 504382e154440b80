// SPDX-License-Identifier: Apache-2.0
//
// Output of a program for its user on standard error and output: messages, a progress line that
// changes, and numbers as text. The formatting functions are pure. Several threads may use a
// Terminal.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace strid {

/// Writes all of `text` to standard error or standard output. The first ignores failures, the
/// second throws InputOutputError.
void write_to_stderr(std::string_view text) noexcept;
void write_to_stdout(std::string_view text);

/// "12.3 M", "431 k", "87": three significant digits.
[[nodiscard]] std::string format_quantity(double quantity);
/// "850 ns", "31 us", "3.1 ms", "2.4 s": three significant digits.
[[nodiscard]] std::string format_latency(std::int64_t ns);
/// "0:07", "1:02:33".
[[nodiscard]] std::string format_clock(double seconds);
/// "12,345,678".
[[nodiscard]] std::string format_count(std::uint64_t count);

/// Standard error with a line that changes and messages between.
class Terminal {
  public:
    Terminal() noexcept;
    ~Terminal() { clear(); }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    /// True where standard error is a terminal.
    [[nodiscard]] bool interactive() const noexcept { return interactive_; }
    /// Replaces the line that changes; writes nothing if standard error is not a terminal.
    void show(const std::string& line);
    void clear();
    /// Prints whole lines that stay.
    void say(const std::string& text);
    /// The same on a terminal only, for a thread that must not wait: it prints nothing while the
    /// terminal is stopped (Ctrl-S). show() does not wait either.
    void hint(const std::string& text);

  private:
    [[nodiscard]] bool takes_text() const noexcept;

    const bool interactive_;
    std::mutex mutex_;
    bool shown_ = false;  // under mutex_
};

}  // namespace strid
