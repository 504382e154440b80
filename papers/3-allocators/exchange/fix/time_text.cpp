// SPDX-License-Identifier: Apache-2.0
#include "fix/time_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <strid/base/civil_time.hpp>

namespace strid::exchange::fix {

std::string utc_timestamp(std::chrono::system_clock::time_point time) {
    const CivilTime civil = civil_of(EventTime{time.time_since_epoch()});
    return fmt::format("{:04}{:02}{:02}-{:02}:{:02}:{:02}.{:03}", civil.year, civil.month,
                       civil.day, civil.hour, civil.minute, civil.second, civil.ns / 1'000'000);
}

std::optional<std::chrono::system_clock::time_point> read_utc_timestamp(
    std::string_view text) noexcept {
    using namespace std::chrono;
    constexpr std::string_view form = "00000000-00:00:00.000000000";
    constexpr std::size_t seconds_end = 17;
    if (text.size() > form.size() || text.size() < seconds_end ||
        (text.size() > seconds_end && (text.size() - seconds_end - 1) % 3 != 0) ||
        text.size() == seconds_end + 1) {
        return std::nullopt;
    }
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool is_digit = text[at] >= '0' && text[at] <= '9';
        if (form[at] == '0' ? !is_digit : text[at] != form[at]) return std::nullopt;
    }
    const auto number = [text](std::size_t at, std::size_t digits) {
        unsigned value = 0;
        for (const char c : text.substr(at, digits)) {
            value = value * 10 + static_cast<unsigned>(c - '0');
        }
        return value;
    };
    const year_month_day date{year{static_cast<int>(number(0, 4))}, month{number(4, 2)},
                              day{number(6, 2)}};
    if (!date.ok() || number(9, 2) > 23 || number(12, 2) > 59 || number(15, 2) > 60) {
        return std::nullopt;
    }
    std::int64_t fraction_ns = 0;
    if (text.size() > seconds_end) {
        fraction_ns = number(seconds_end + 1, 9);
        for (std::size_t digits = text.size() - seconds_end - 1; digits < 9; ++digits) {
            fraction_ns *= 10;
        }
    }
    return sys_days{date} + hours{number(9, 2)} + minutes{number(12, 2)} + seconds{number(15, 2)} +
           nanoseconds{fraction_ns};
}

}  // namespace strid::exchange::fix
