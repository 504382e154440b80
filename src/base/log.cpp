// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <strid/base/log.hpp>
#include <strid/engine/base/json_text.hpp>
#include <strid/engine/base/utc_text.hpp>

#include "standard_error.hpp"

namespace strid {

namespace {

struct ProcessLog {
    std::atomic<bool> is_set{false};  // relaxed: the mutex guards the handler
    std::mutex mutex;
    LogHandler handler;

    ProcessLog() = default;
    ~ProcessLog() {  // threads may give messages while the process ends
        const std::lock_guard lock(mutex);
        handler = nullptr;
    }
    ProcessLog(const ProcessLog&) = delete;
    ProcessLog& operator=(const ProcessLog&) = delete;
};

ProcessLog& process_log() noexcept {
    static ProcessLog log;
    return log;
}

/// Whether the handler has called this thread's way here.
thread_local bool is_in_handler = false;

/// False where there is no log, or where its handler has thrown.
bool give(const LogMessage& message) noexcept {
    ProcessLog& log = process_log();
    if (!log.is_set.load(std::memory_order_relaxed) || is_in_handler) return false;
    const std::lock_guard lock(log.mutex);
    if (!log.handler) return false;
    is_in_handler = true;
    bool is_taken = true;
    try {
        log.handler(message);
    } catch (...) {  // out of memory, or an error of the user's handler
        is_taken = false;
    }
    is_in_handler = false;
    return is_taken;
}

struct Prefix {
    std::string_view text;
    LogLevel level;
};

/// How sentences for the user begin. The last one is that of all others.
constexpr std::array<Prefix, 3> prefixes{{
    {"strid: error: ", LogLevel::error},
    {"strid: warning: ", LogLevel::warning},
    {"strid: ", LogLevel::info},
}};

LogMessage message_of(std::string_view text) noexcept {
    while (text.starts_with('\n')) text.remove_prefix(1);
    while (text.ends_with('\n')) text.remove_suffix(1);
    for (const Prefix& prefix : prefixes) {
        if (!text.starts_with(prefix.text)) continue;
        text.remove_prefix(prefix.text.size());
        return {.level = prefix.level, .text = text};
    }
    return {.text = text};
}

std::string_view name_of(LogLevel level) noexcept {
    if (level == LogLevel::error) return "error";
    return level == LogLevel::warning ? "warning" : "info";
}

struct JsonValue {
    std::string operator()(std::string_view text) const { return json_text(text); }
    std::string operator()(std::uint64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const {
        return std::isfinite(number) ? fmt::format("{}", number) : "null";
    }
};

}  // namespace

void set_log(LogHandler handler) {
    ProcessLog& log = process_log();
    const std::lock_guard lock(log.mutex);
    log.is_set.store(handler != nullptr, std::memory_order_relaxed);
    std::swap(log.handler, handler);
}

bool has_log() noexcept {
    return process_log().is_set.load(std::memory_order_relaxed);
}

void log_event(const LogMessage& message) noexcept {
    give(message);
}

bool log_sentence(std::string_view text) noexcept {
    const LogMessage message = message_of(text);
    return message.text.empty() ? has_log() : give(message);
}

std::string json_line(const LogMessage& message) {
    std::string line =
        fmt::format(R"({{"time":"{}","level":"{}")", utc_text(std::chrono::system_clock::now()),
                    name_of(message.level));
    if (!message.event.empty()) line += fmt::format(R"(,"event":{})", json_text(message.event));
    line += fmt::format(R"(,"message":{})", json_text(message.text));
    for (const LogField& field : message.fields) {
        line += fmt::format(",{}:{}", json_text(field.name), std::visit(JsonValue{}, field.value));
    }
    return line + "}\n";
}

LogHandler json_log() {
    return [](const LogMessage& message) { write_all(STDERR_FILENO, json_line(message)); };
}

}  // namespace strid
