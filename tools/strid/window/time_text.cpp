// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include <strid/base/error.hpp>

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

/// A letter, which RFC 3339 has in either case.
bool take_letter(std::string_view& text, char upper, char lower) {
    return take(text, upper) || take(text, lower);
}

/// `Z`, `+01:00`, `-0530`, `+01` or nothing.
bool take_zone(std::string_view& text, std::chrono::minutes& east) {
    if (text.empty() || take_letter(text, 'Z', 'z')) return text.empty();
    const bool is_west = text.front() == '-';
    if (!take(text, '+') && !take(text, '-')) return false;
    int hours = 0;
    int minutes = 0;
    if (!take_number(text, 2, hours)) return false;
    const bool has_minutes = take(text, ':') || !text.empty();
    if (has_minutes && !take_number(text, 2, minutes)) return false;
    east = std::chrono::minutes{(is_west ? -1 : 1) * (hours * 60 + minutes)};
    return text.empty() && hours <= 23 && minutes <= 59;
}

/// A date and time as its parts.
struct IsoTime {
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
    std::int64_t ns = 0;
    std::chrono::minutes east{0};
};

/// The extended form, `2024-01-31T12:00:00`, or the basic one, `20240131T120000`: the first
/// separator says which.
bool take_iso_time(std::string_view text, IsoTime& time) {
    if (!take_number(text, 4, time.year)) return false;
    const bool is_basic = !text.starts_with('-');
    const auto take_part = [&text, is_basic](char separator, int& number) {
        return (is_basic || take(text, separator)) && take_number(text, 2, number);
    };
    if (!take_part('-', time.month) || !take_part('-', time.day)) return false;
    if (text.empty()) return true;
    if (!take_letter(text, 'T', 't') && !take(text, ' ')) return false;
    if (!take_number(text, 2, time.hour) || !take_part(':', time.minute)) return false;
    const bool has_seconds = is_basic ? !text.empty() && text.front() >= '0' && text.front() <= '9'
                                      : text.starts_with(':');
    if (has_seconds && !(take_part(':', time.second) && take_fraction(text, time.ns))) return false;
    return take_zone(text, time.east);
}

detail::CsvFault read_iso_time(std::string_view text, EventTime& time) {
    IsoTime at;
    if (!take_iso_time(text, at)) return "not a time of ISO 8601";
    const std::chrono::year_month_day date{std::chrono::year{at.year},
                                           std::chrono::month{static_cast<unsigned>(at.month)},
                                           std::chrono::day{static_cast<unsigned>(at.day)}};
    if (!date.ok() || at.hour > 23 || at.minute > 59 || at.second > 60) {
        return "not a time of ISO 8601";
    }
    const std::chrono::seconds since =
        std::chrono::sys_days{date}.time_since_epoch() + std::chrono::hours{at.hour} +
        std::chrono::minutes{at.minute} + std::chrono::seconds{at.second} - at.east;
    std::int64_t total = 0;
    if (__builtin_mul_overflow(since.count(), std::int64_t{1'000'000'000}, &total) ||
        __builtin_add_overflow(total, at.ns, &total)) {
        return "out of range";
    }
    time = EventTime::of_ns(total);
    return nullptr;
}

/// What no integer looks like: a `-` behind the year, or a `T` behind the day.
bool looks_like_iso(std::string_view text) noexcept {
    return text.size() > 9 && (text[4] == '-' || text[8] == 'T' || text[8] == 't');
}

/// Of times before 1970 also the last whole number that is not behind.
std::int64_t floor_of(std::int64_t ns, std::int64_t unit_ns) noexcept {
    return ns / unit_ns - (ns % unit_ns < 0 ? 1 : 0);
}

}  // namespace

detail::CsvFault read_time(std::string_view text, const TimeFormat& format, EventTime& time) {
    text = detail::trimmed(text);
    if (looks_like_iso(text)) {
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
    if (!format.misfit.empty() && !format.iso.load(std::memory_order_relaxed)) {
        throw GraphError(format.misfit);
    }
    time = EventTime::of_ns(ns);
    return nullptr;
}

void append_time(std::string& out, EventTime time, const TimeFormat& format) {
    const auto to = std::back_inserter(out);
    if (!format.iso.load(std::memory_order_relaxed)) {
        // The end of time stands for what is behind it: a window that ends there is not empty.
        const bool is_cut = time == EventTime::latest() && format.unit_ns != 1;
        const fmt::format_int text(floor_of(time.ns(), format.unit_ns) + (is_cut ? 1 : 0));
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
