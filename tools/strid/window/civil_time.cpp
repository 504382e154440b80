// SPDX-License-Identifier: Apache-2.0
#include "civil_time.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace strid::tool {

namespace {

__extension__ using Wide = __int128;

constexpr std::array<std::string_view, 12> months = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> weekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                      "Thursday", "Friday", "Saturday"};

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}
constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) noexcept {
    return a / b - (a % b < 0 ? 1 : 0);
}

/// The days before which UTC had a second 60; there is none behind 2016 so far.
bool begins_behind_leap_second(std::int64_t moment_s) noexcept {
    using namespace std::chrono;
    struct Year {
        int number;
        unsigned month;
    };
    static constexpr std::array<Year, 27> leaps = {
        {{1972, 7}, {1973, 1}, {1974, 1}, {1975, 1}, {1976, 1}, {1977, 1}, {1978, 1},
         {1979, 1}, {1980, 1}, {1981, 7}, {1982, 7}, {1983, 7}, {1985, 7}, {1988, 1},
         {1990, 1}, {1991, 1}, {1992, 7}, {1993, 7}, {1994, 7}, {1996, 1}, {1997, 7},
         {1999, 1}, {2006, 1}, {2009, 1}, {2012, 7}, {2015, 7}, {2017, 1}}};
    return std::any_of(leaps.begin(), leaps.end(), [moment_s](const Year& leap) {
        const sys_days day = year{leap.number} / month{leap.month} / 1;
        return day.time_since_epoch().count() * day_s == moment_s;
    });
}

/// The longest name, or the first three letters of one.
template <std::size_t size>
bool take_name(std::string_view& text, const std::array<std::string_view, size>& names,
               int& index) noexcept {
    for (std::size_t i = 0; i < size; ++i) {
        if (!take_word(text, names[i]) && !take_word(text, names[i].substr(0, 3))) continue;
        index = static_cast<int>(i);
        return true;
    }
    return false;
}

}  // namespace

std::int64_t day_number(const CivilTime& civil) noexcept {
    using namespace std::chrono;
    const sys_days day = year{civil.year} / civil.month / civil.day;
    return day.time_since_epoch().count();
}

detail::CsvFault moment_of(const CivilTime& civil, const TimeZone& zone, EventTime& time) {
    using namespace std::chrono;
    const year_month_day date{year{civil.year}, month{static_cast<unsigned>(civil.month)},
                              day{static_cast<unsigned>(civil.day)}};
    if (civil.month < 1 || civil.day < 1 || !date.ok()) return "no such day";
    const bool is_midnight =
        civil.hour == 24 && civil.minute == 0 && civil.second == 0 && civil.ns == 0;
    if ((civil.hour > 23 && !is_midnight) || civil.minute > 59 || civil.second > 60) {
        return "no such time of day";
    }
    const std::int64_t local = day_number(civil) * day_s +
                               (civil.hour * 60 + civil.minute) * std::int64_t{60} + civil.second;
    const std::int64_t moment = civil.has_offset ? local - civil.offset_s : zone.moment_of(local);
    if (civil.second == 60 && !begins_behind_leap_second(moment)) {
        return "no such second: no leap second was there";
    }
    const Wide ns = Wide{moment} * second_ns + civil.ns;
    if (ns < EventTime::earliest().ns() || ns > EventTime::latest().ns()) {
        return "out of range: times lie between 1677-09-21T00:12:44Z and 2262-04-11T23:47:16Z";
    }
    time = EventTime::of_ns(static_cast<std::int64_t>(ns));
    return nullptr;
}

bool add_half(CivilTime& civil, HalfOfDay half) noexcept {
    if (half == HalfOfDay::none) return true;
    if (civil.hour < 1 || civil.hour > 12) return false;
    civil.hour = civil.hour % 12 + (half == HalfOfDay::pm ? 12 : 0);
    return true;
}

CivilTime civil_of(EventTime time, const TimeZone& zone) {
    using namespace std::chrono;
    CivilTime civil;
    const std::int64_t moment = floor_divide(time.ns(), second_ns);
    civil.has_offset = true;
    civil.offset_s = zone.offset_at(moment);
    const std::int64_t local = moment + civil.offset_s;
    const std::int64_t day = floor_divide(local, day_s);
    const year_month_day date{sys_days{days{day}}};
    civil.year = static_cast<int>(date.year());
    civil.month = static_cast<int>(static_cast<unsigned>(date.month()));
    civil.day = static_cast<int>(static_cast<unsigned>(date.day()));
    const auto of_day = static_cast<int>(local - day * day_s);
    civil.hour = of_day / 3600;
    civil.minute = of_day / 60 % 60;
    civil.second = of_day % 60;
    const std::int64_t within = time.ns() % second_ns;
    civil.ns = within < 0 ? within + second_ns : within;
    return civil;
}

bool take(std::string_view& text, char c) noexcept {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
}

bool take_word(std::string_view& text, std::string_view word) noexcept {
    if (text.size() < word.size()) return false;
    const bool is_same = std::equal(word.begin(), word.end(), text.begin(),
                                    [](char a, char b) { return lower(a) == lower(b); });
    if (is_same) text.remove_prefix(word.size());
    return is_same;
}

bool take_number(std::string_view& text, std::size_t digits_min, std::size_t digits_max,
                 int& number) noexcept {
    std::size_t digits = 0;
    int value = 0;
    for (; digits < digits_max && digits < text.size() && is_digit(text[digits]); ++digits) {
        value = value * 10 + (text[digits] - '0');
    }
    if (digits < digits_min) return false;
    number = value;
    text.remove_prefix(digits);
    return true;
}

bool take_fraction(std::string_view& text, std::int64_t& ns) noexcept {
    std::int64_t scale = second_ns / 10;
    std::size_t digits = 0;
    for (; digits < text.size() && is_digit(text[digits]); ++digits) {
        ns += scale * (text[digits] - '0');
        scale /= 10;
    }
    text.remove_prefix(digits);
    return digits != 0;
}

bool take_half(std::string_view& text, HalfOfDay& half) noexcept {
    if (take_word(text, "AM")) {
        half = HalfOfDay::am;
    } else if (take_word(text, "PM")) {
        half = HalfOfDay::pm;
    } else {
        return false;
    }
    return true;
}

bool take_month(std::string_view& text, int& month) noexcept {
    if (!take_name(text, months, month)) return false;
    ++month;
    return true;
}

bool take_weekday(std::string_view& text) noexcept {
    int index = 0;
    return take_name(text, weekdays, index);
}

bool take_offset(std::string_view& text, CivilTime& civil) noexcept {
    std::string_view left = text;
    const bool is_west = left.starts_with('-');
    if (!take(left, '+') && !take(left, '-')) return false;
    int hours = 0;
    int minutes = 0;
    if (!take_number(left, 2, 2, hours)) return false;
    const bool has_minutes = take(left, ':') || (!left.empty() && is_digit(left.front()));
    if (has_minutes && !take_number(left, 2, 2, minutes)) return false;
    if (hours > 23 || minutes > 59) return false;
    civil.has_offset = true;
    civil.offset_s = (is_west ? -1 : 1) * (hours * 60 + minutes) * std::int64_t{60};
    text = left;
    return true;
}

std::string_view month_name(int month) noexcept {
    return months[static_cast<std::size_t>(month - 1)];
}

std::string_view weekday_name(std::int64_t day) noexcept {
    const std::int64_t index = (day + 4) % 7;  // 1970 began on a Thursday
    return weekdays[static_cast<std::size_t>(index < 0 ? index + 7 : index)];
}

}  // namespace strid::tool
