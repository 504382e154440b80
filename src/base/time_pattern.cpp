// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <chrono>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/time_pattern.hpp>
#include <strid/engine/base/time_fields.hpp>

namespace strid {

namespace {

using detail::day_s;
using detail::HalfOfDay;
using detail::second_ns;
using detail::take;
using detail::take_number;
using detail::take_word;

constexpr bool is_space(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\n';
}

/// The values that the directives of a pattern have read.
struct Parsed {
    CivilTime civil;
    HalfOfDay half = HalfOfDay::none;
    int day_of_year = 0;
    std::int64_t epoch_s = 0;
};

bool take_epoch(std::string_view& text, std::int64_t& seconds) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

bool take_directive(std::string_view& text, char directive, const TimeZone& zone, Parsed& parsed) {
    CivilTime& civil = parsed.civil;
    switch (directive) {
        case 'Y':
            return take_number(text, 4, 4, civil.year);
        case 'y':
            if (!take_number(text, 2, 2, civil.year)) return false;
            civil.year += civil.year < 69 ? 2000 : 1900;
            return true;
        case 'm':
            return take_number(text, 1, 2, civil.month);
        case 'e':
            static_cast<void>(take(text, ' '));
            [[fallthrough]];
        case 'd':
            return take_number(text, 1, 2, civil.day);
        case 'j':
            return take_number(text, 1, 3, parsed.day_of_year) && parsed.day_of_year != 0;
        case 'b':
            return detail::take_month(text, civil.month);
        case 'H':
        case 'I':
            return take_number(text, 1, 2, civil.hour);
        case 'M':
            return take_number(text, 1, 2, civil.minute);
        case 'S':
            return take_number(text, 1, 2, civil.second);
        case 'f':
            return detail::take_fraction(text, civil.ns);
        case 'p':
            return detail::take_half(text, parsed.half);
        case 'a':
            return detail::take_weekday(text);
        case 's':
            return take_epoch(text, parsed.epoch_s);
        case 'z':
            if (detail::take_offset(text, civil)) return true;
            civil.has_offset = true;
            return take_word(text, "Z");
        default:  // Z
            return detail::take_zone_name(text, zone, civil);
    }
}

void append_fraction(std::string& out, std::int64_t ns) {
    const std::size_t begin = out.size();
    fmt::format_to(std::back_inserter(out), "{:09}", ns);
    while (out.size() > begin + 3 && out.ends_with("000")) out.resize(out.size() - 3);
}

void append_directive(std::string& out, char directive, const CivilTime& civil, EventTime time) {
    const auto to = std::back_inserter(out);
    const auto two = [&to](int number) { fmt::format_to(to, "{:02}", number); };
    switch (directive) {
        case 'Y':
            fmt::format_to(to, "{:04}", civil.year);
            return;
        case 'y':
            return two(civil.year % 100);
        case 'm':
            return two(civil.month);
        case 'e':
            fmt::format_to(to, "{:2}", civil.day);
            return;
        case 'd':
            return two(civil.day);
        case 'j':
            fmt::format_to(to, "{:03}", day_number(civil) - day_number({.year = civil.year}) + 1);
            return;
        case 'b':
            out += detail::month_name(civil.month).substr(0, 3);
            return;
        case 'B':
            out += detail::month_name(civil.month);
            return;
        case 'H':
            return two(civil.hour);
        case 'I':
            return two((civil.hour + 11) % 12 + 1);
        case 'M':
            return two(civil.minute);
        case 'S':
            return two(civil.second);
        case 'f':
            return append_fraction(out, civil.ns);
        case 'p':
            out += civil.hour < 12 ? "AM" : "PM";
            return;
        case 'a':
            out += detail::weekday_name(day_number(civil)).substr(0, 3);
            return;
        case 'A':
            out += detail::weekday_name(day_number(civil));
            return;
        case 's':
            fmt::format_to(to, "{}", time.ns() / second_ns - (time.ns() % second_ns < 0 ? 1 : 0));
            return;
        case 'z': {
            const std::int64_t minutes = civil.offset_s / 60;
            fmt::format_to(to, "{}{:02}{:02}", minutes < 0 ? '-' : '+',
                           (minutes < 0 ? -minutes : minutes) / 60,
                           (minutes < 0 ? -minutes : minutes) % 60);
            return;
        }
        default:  // Z
            out += "UTC";
    }
}

/// The directives that stand for several written out.
std::string written_out(std::string_view pattern) {
    std::string result;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            result += pattern[i];
            continue;
        }
        const char directive = ++i < pattern.size() ? pattern[i] : '\0';
        switch (directive) {
            case 'F':
                result += "%Y-%m-%d";
                break;
            case 'T':
                result += "%H:%M:%S";
                break;
            case 'R':
                result += "%H:%M";
                break;
            case 'D':
                result += "%m/%d/%y";
                break;
            case 'h':
                result += "%b";
                break;
            case 'n':
            case 't':
                result += ' ';
                break;
            default:
                if (directive == '\0' || std::string_view("YymdejbBHIMSfpaAszZ%").find(directive) ==
                                             std::string_view::npos) {
                    throw Error(fmt::format(
                        "'{}' has an unknown directive '%{}': there are %Y %y %m %d %e %j %b %B "
                        "%H %I %M %S %f %p %z %Z %s %a %A %F %T %R %D %n %t and %%",
                        pattern, directive == '\0' ? std::string{} : std::string(1, directive)));
                }
                result += '%';
                result += directive;
        }
    }
    return result;
}

bool asks_for(const std::string& pattern, std::string_view directives) {
    for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
        if (pattern[i] != '%') continue;
        if (directives.find(pattern[++i]) != std::string_view::npos) return true;
    }
    return false;
}

}  // namespace

TimePattern::TimePattern(std::string_view pattern, PatternYear year)
    : pattern_(written_out(pattern)),
      is_utc_(asks_for(pattern_, "Z")),
      is_epoch_(asks_for(pattern_, "s")),
      has_year_(is_epoch_ || asks_for(pattern_, "Yy")),
      has_offset_(asks_for(pattern_, "sZz")) {
    if (is_epoch_ && asks_for(pattern_, "f")) {
        throw Error(fmt::format(
            "'{}': seconds with a fraction are read without a pattern, as a number (--unit s)",
            pattern));
    }
    const bool may_lack_year = year == PatternYear::of_reader && asks_for(pattern_, "mbBj");
    if (!has_year_ && !may_lack_year) {
        throw Error(
            fmt::format("'{}' says no year (%Y, %y) and no seconds since 1970 (%s)", pattern));
    }
    if (asks_for(pattern_, "I") != asks_for(pattern_, "p")) {
        throw Error(
            fmt::format("'{}': %I (hours from 1 to 12) and %p (AM, PM) go together", pattern));
    }
}

Duration TimePattern::unit() const {
    using namespace std::chrono_literals;
    constexpr std::pair<std::string_view, Duration> units[] = {
        {"f", 1ns}, {"Ss", 1s}, {"M", 1min}, {"HI", 1h}, {"dej", 24h}, {"mbB", 31 * 24h}};
    for (const auto& [directives, unit] : units) {
        if (asks_for(pattern_, directives)) return unit;
    }
    return 366 * 24h;
}

TimeFault TimePattern::read(std::string_view text, const TimeZone& zone, EventTime& time,
                            int year) const {
    constexpr TimeFault fault = TimeFault::not_of_pattern;
    Parsed parsed;
    parsed.civil.year = year;
    for (std::size_t i = 0; i < pattern_.size(); ++i) {
        if (is_space(pattern_[i])) {
            while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
        } else if (pattern_[i] == '%' && pattern_[i + 1] != '%') {
            char directive = pattern_[++i];
            if (directive == 'B' || directive == 'A') directive += 'a' - 'A';
            if (!take_directive(text, directive, zone, parsed)) return fault;
        } else {
            if (pattern_[i] == '%') ++i;
            if (!take(text, pattern_[i])) return fault;
        }
    }
    if (!text.empty()) return fault;
    CivilTime& civil = parsed.civil;
    if (is_epoch_) {
        const EventTime earliest = EventTime::earliest();
        if (parsed.epoch_s == earliest.ns() / second_ns - 1) {  // as it is written
            time = earliest;
            return TimeFault::none;
        }
        if (__builtin_mul_overflow(parsed.epoch_s, second_ns, &civil.ns))
            return TimeFault::out_of_range;
        time = EventTime::of_ns(civil.ns);
        return TimeFault::none;
    }
    if (parsed.day_of_year != 0) {
        civil.month = 1;
        civil.day = 1;
        const bool is_leap = day_number({.year = civil.year + 1}) - day_number(civil) == 366;
        if (parsed.day_of_year > (is_leap ? 366 : 365)) return TimeFault::no_day;
        const std::int64_t day = day_number(civil) + parsed.day_of_year - 1;
        const CivilTime date = civil_of(EventTime{std::chrono::seconds{day * day_s}}, {});
        civil.month = date.month;
        civil.day = date.day;
    }
    if (!detail::add_half(civil, parsed.half)) return fault;
    return moment_of(civil, zone, time);
}

void TimePattern::append(std::string& out, EventTime time, const TimeZone& zone) const {
    const CivilTime civil = civil_of(time, is_utc_ ? TimeZone{} : zone);
    for (std::size_t i = 0; i < pattern_.size(); ++i) {
        if (pattern_[i] == '%' && pattern_[i + 1] != '%') {
            append_directive(out, pattern_[++i], civil, time);
        } else {
            if (pattern_[i] == '%') ++i;
            out += pattern_[i];
        }
    }
}

}  // namespace strid
