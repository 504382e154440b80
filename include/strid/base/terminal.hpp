// SPDX-License-Identifier: Apache-2.0
//
// What a program tells a person on standard error and output: messages, a line of progress that
// changes, and numbers as text. The formatting functions are pure. A Terminal may be used by
// several threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace strid {

/// Writes to standard error or standard output, all of it where the descriptor takes it. The second
/// throws InputOutputError.
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

/// Standard error as a place for a line that changes and for messages between.
class Terminal {
  public:
    Terminal() noexcept;
    ~Terminal() { clear(); }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    /// True where standard error is a terminal.
    [[nodiscard]] bool interactive() const noexcept { return interactive_; }
    /// Replaces the line that changes, on a terminal; elsewhere it writes nothing.
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
