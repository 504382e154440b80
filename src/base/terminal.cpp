// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <system_error>

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/base/log.hpp>
#include <strid/engine/base/terminal.hpp>

#include "standard_error.hpp"

namespace strid {

namespace {

struct Unit {
    double size;
    std::string_view name;
};

/// Three significant digits in the largest unit that leaves at least 1.
template <std::size_t count>
std::string in_units(double value, const std::array<Unit, count>& units) {
    std::size_t i = 0;
    while (i + 1 < count && value / units[i].size >= 999.5) ++i;
    const double scaled = value / units[i].size;
    const bool whole = i == 0 && scaled == std::floor(scaled);
    const int decimals = whole || scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f}{}", scaled, decimals, units[i].name);
}

constexpr std::string_view clear_line = "\r\x1b[K";

std::size_t terminal_columns() noexcept {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

}  // namespace

bool write_all(int descriptor, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (written < 0 && errno == EAGAIN) {
            pollfd waited{descriptor, POLLOUT, 0};
            ::poll(&waited, 1, -1);
        } else if (written == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

void write_to_stderr(std::string_view text) noexcept {
    if (!log_sentence(text)) write_all(STDERR_FILENO, text);
}

void write_to_stdout(std::string_view text) {
    if (write_all(STDOUT_FILENO, text)) return;
    throw InputOutputError("standard output: cannot write: " +
                           std::generic_category().message(errno));
}

std::string format_quantity(double quantity) {
    constexpr std::array<Unit, 4> units{{{1, ""}, {1e3, " k"}, {1e6, " M"}, {1e9, " G"}}};
    return in_units(quantity, units);
}

std::string format_latency(std::int64_t ns) {
    constexpr std::array<Unit, 4> units{{{1, " ns"}, {1e3, " us"}, {1e6, " ms"}, {1e9, " s"}}};
    return in_units(static_cast<double>(ns), units);
}

std::string format_clock(double seconds) {
    const auto whole = static_cast<std::uint64_t>(std::max(0.0, std::round(seconds)));
    const std::uint64_t minutes = whole / 60;
    if (minutes < 60) return fmt::format("{}:{:02}", minutes, whole % 60);
    return fmt::format("{}:{:02}:{:02}", minutes / 60, minutes % 60, whole % 60);
}

std::string format_count(std::uint64_t count) {
    std::string digits = fmt::format("{}", count);
    for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, ",");
    return digits;
}

Terminal::Terminal() noexcept : interactive_(::isatty(STDERR_FILENO) == 1 && !has_log()) {}

bool Terminal::takes_text() const noexcept {
    pollfd asked{STDERR_FILENO, POLLOUT, 0};
    return interactive_ && ::poll(&asked, 1, 0) == 1;
}

void Terminal::show(const std::string& line) {
    const std::unique_lock lock{mutex_, std::try_to_lock};
    if (!lock || !takes_text()) return;
    write_to_stderr(std::string(clear_line) + line.substr(0, terminal_columns() - 1));
    shown_ = true;
}

void Terminal::clear() {
    const std::lock_guard lock{mutex_};
    if (shown_) write_to_stderr(std::string(clear_line));
    shown_ = false;
}

void Terminal::hint(const std::string& text) {
    const std::unique_lock lock{mutex_, std::try_to_lock};
    if (!lock || !takes_text()) return;
    write_to_stderr((shown_ ? std::string(clear_line) : std::string()) + text);
    shown_ = false;
}

void Terminal::say(const std::string& text) {
    const std::lock_guard lock{mutex_};
    write_to_stderr((shown_ ? std::string(clear_line) : std::string()) + text);
    shown_ = false;
}

}  // namespace strid
