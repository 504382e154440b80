// SPDX-License-Identifier: Apache-2.0
//
// Messages of a process: its errors and warnings, and what becomes of its runs. Without a log,
// sentences for the user go to standard error as text, and nothing else is written. A log gets them
// in their place, and the events of runs besides.
//
// Thread rules: the log belongs to the process, as standard error does. Any thread gives messages;
// the handler is called by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace strid {

/// How much a message matters.
enum class LogLevel : std::uint8_t {
    info,     ///< An event: a run has started.
    warning,  ///< The run goes on, but not as it should: a connection is lost.
    error     ///< The run, or the process, has failed.
};

/// A value that a message has besides its text.
struct LogField {
    std::string_view name;                                        ///< As JSON has it.
    std::variant<std::string_view, std::uint64_t, double> value;  ///< Text, a count or a quantity.
};

/// A message. Its texts live as long as the call that gives it.
struct LogMessage {
    LogLevel level = LogLevel::info;  ///< How much it matters.
    /// `started`, `restored`, `snapshot`, `stopping` or `ended`, of a run; empty: a sentence for
    /// the user.
    std::string_view event = {};
    std::string_view text = {};  ///< One sentence or several lines, without a newline at its end.
    std::span<const LogField> fields = {};  ///< Of an event.
};

/// Takes messages. Where it throws, a sentence for the user goes to standard error as text; so do
/// those that it gives itself.
using LogHandler = std::function<void(const LogMessage&)>;

/// From now on `handler` gets the messages of the process; null: standard error gets its sentences
/// again. Before runs are started: a terminal shows no progress while there is a log.
void set_log(LogHandler handler);
/// Whether there is a log.
[[nodiscard]] bool has_log() noexcept;
/// Gives a message to the log; does nothing where there is none.
void log_event(const LogMessage& message) noexcept;

/// The message as a line of JSON, with its newline: an object with `time` (now, in UTC, to the
/// millisecond), `level`, `event` where it has one, `message`, and the fields.
[[nodiscard]] std::string json_line(const LogMessage& message);
/// Writes each message to standard error as json_line() has it: `--log json`.
[[nodiscard]] LogHandler json_log();

}  // namespace strid
