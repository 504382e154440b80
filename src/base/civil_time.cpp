// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>

#include <strid/base/civil_time.hpp>

namespace strid {

namespace {

using detail::day_s;
using detail::floor_divide;
using detail::second_ns;

__extension__ using Wide = __int128;

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

}  // namespace

const char* describe(TimeFault fault) noexcept {
    switch (fault) {
        case TimeFault::none:
            return nullptr;
        case TimeFault::no_time:
            return "not a time: neither a number nor a date (2024-03-31T01:30:00.5Z, 2024/03/31 "
                   "1:30, 03/31/2024 01:30 AM, 31/Mar/2024:01:30:00 +0200)";
        case TimeFault::day_or_month:
            return "day or month first?";
        case TimeFault::not_of_pattern:
            return "not a time of the pattern";
        case TimeFault::no_day:
            return "no such day";
        case TimeFault::no_time_of_day:
            return "no such time of day";
        case TimeFault::no_leap_second:
            return "no such second: no leap second was there";
        case TimeFault::out_of_range:
            return "out of range: times lie between 1677-09-21T00:12:44Z and 2262-04-11T23:47:16Z";
        case TimeFault::number_out_of_range:
            return "out of range for the unit";
    }
    return nullptr;
}

TimeFault moment_of(const CivilTime& civil, const TimeZone& zone, EventTime& time) {
    using namespace std::chrono;
    const year_month_day date{year{civil.year}, month{static_cast<unsigned>(civil.month)},
                              day{static_cast<unsigned>(civil.day)}};
    if (civil.month < 1 || civil.day < 1 || !date.ok()) return TimeFault::no_day;
    const bool is_midnight =
        civil.hour == 24 && civil.minute == 0 && civil.second == 0 && civil.ns == 0;
    if ((civil.hour > 23 && !is_midnight) || civil.minute > 59 || civil.second > 60) {
        return TimeFault::no_time_of_day;
    }
    const std::int64_t local = day_number(civil) * day_s +
                               (civil.hour * 60 + civil.minute) * std::int64_t{60} + civil.second;
    const std::int64_t moment = civil.has_offset ? local - civil.offset_s : zone.moment_of(local);
    if (civil.second == 60 && !begins_behind_leap_second(moment)) {
        return TimeFault::no_leap_second;
    }
    const Wide ns = Wide{moment} * second_ns + civil.ns;
    if (ns < EventTime::earliest().ns() || ns > EventTime::latest().ns()) {
        return TimeFault::out_of_range;
    }
    time = EventTime::of_ns(static_cast<std::int64_t>(ns));
    return TimeFault::none;
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

}  // namespace strid
