// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "table_plan.hpp"

namespace strid::tool {

namespace {

/// Takes `digits` digits from the front of the text.
bool take_number(std::string_view& text, std::size_t digits, int& number) {
    if (text.size() < digits) return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
    if (error != std::errc{} || end != text.data() + digits || text[0] == '-') return false;
    text.remove_prefix(digits);
    return true;
}

bool take(std::string_view& text, char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
}

/// `.5`, `.123456789`: further digits are dropped.
bool take_fraction(std::string_view& text, std::int64_t& ns) {
    if (!take(text, '.') && !take(text, ',')) return true;
    std::int64_t scale = 100'000'000;
    std::size_t digits = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
        ns += scale * (text[digits] - '0');
        scale /= 10;
    }
    text.remove_prefix(digits);
    return digits != 0;
}

/// `Z`, `+01:00`, `-0530`, `+01` or nothing.
bool take_zone(std::string_view& text, std::chrono::minutes& east) {
    if (text.empty() || take(text, 'Z')) return text.empty();
    const bool is_west = text.front() == '-';
    if (!take(text, '+') && !take(text, '-')) return false;
    int hours = 0;
    int minutes = 0;
    if (!take_number(text, 2, hours)) return false;
    (void)take(text, ':');
    if (!text.empty() && !take_number(text, 2, minutes)) return false;
    east = std::chrono::minutes{(is_west ? -1 : 1) * (hours * 60 + minutes)};
    return text.empty();
}

detail::CsvFault read_iso_time(std::string_view text, EventTime& time) {
    constexpr const char* fault = "not a time of ISO 8601";
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
    std::int64_t ns = 0;
    std::chrono::minutes east{0};
    if (!take_number(text, 4, year) || !take(text, '-') || !take_number(text, 2, month) ||
        !take(text, '-') || !take_number(text, 2, day)) {
        return fault;
    }
    if (!text.empty()) {
        if (!take(text, 'T') && !take(text, ' ')) return fault;
        if (!take_number(text, 2, hour) || !take(text, ':') || !take_number(text, 2, minute)) {
            return fault;
        }
        if (take(text, ':') && !(take_number(text, 2, second) && take_fraction(text, ns))) {
            return fault;
        }
        if (!take_zone(text, east)) return fault;
    }
    const std::chrono::year_month_day date{std::chrono::year{year},
                                           std::chrono::month{static_cast<unsigned>(month)},
                                           std::chrono::day{static_cast<unsigned>(day)}};
    if (!date.ok() || hour > 23 || minute > 59 || second > 60) return fault;
    const std::chrono::seconds since = std::chrono::sys_days{date}.time_since_epoch() +
                                       std::chrono::hours{hour} + std::chrono::minutes{minute} +
                                       std::chrono::seconds{second} - east;
    std::int64_t total = 0;
    if (__builtin_mul_overflow(since.count(), std::int64_t{1'000'000'000}, &total) ||
        __builtin_add_overflow(total, ns, &total)) {
        return "out of range";
    }
    time = EventTime::of_ns(total);
    return nullptr;
}

}  // namespace

detail::CsvFault read_time(std::string_view text, const TimeFormat& format, EventTime& time) {
    if (text.size() > 9 && text[4] == '-') {
        const detail::CsvFault fault = read_iso_time(text, time);
        if (fault == nullptr && !format.iso.load(std::memory_order_relaxed)) {
            format.iso.store(true, std::memory_order_relaxed);  // a flag that is only ever set
        }
        return fault;
    }
    std::int64_t count = 0;
    if (const auto fault = detail::read_integer(text, count)) return fault;
    std::int64_t ns = 0;
    if (__builtin_mul_overflow(count, format.unit_ns, &ns)) return "out of range";
    time = EventTime::of_ns(ns);
    return nullptr;
}

void append_time(std::string& out, EventTime time, const TimeFormat& format) {
    const auto to = std::back_inserter(out);
    if (!format.iso.load(std::memory_order_relaxed)) {
        const fmt::format_int text(time.ns() / format.unit_ns);
        out.append(text.data(), text.size());
        return;
    }
    using namespace std::chrono;
    const sys_time<nanoseconds> at{nanoseconds{time.ns()}};
    const auto day = floor<days>(at);
    const year_month_day date{day};
    const hh_mm_ss clock{at - day};
    fmt::format_to(to, "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                   static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                   clock.hours().count(), clock.minutes().count(), clock.seconds().count());
    if (clock.subseconds().count() != 0) {
        fmt::format_to(to, ".{:09}", clock.subseconds().count());
        out.erase(out.find_last_not_of('0') + 1);
    }
    out += 'Z';
}

}  // namespace strid::tool
