// SPDX-License-Identifier: Apache-2.0
//
// Dates and times of day, and the moments that they are. Stateless; any thread.
#pragma once

#include <chrono>
#include <cstdint>

#include <strid/base/time.hpp>
#include <strid/base/time_zone.hpp>

namespace strid {

/// Why a text or a date is no point in time.
enum class [[nodiscard]] TimeFault : std::uint8_t {
    none,                 ///< It is one.
    no_time,              ///< The text has no form that read_time() knows.
    day_or_month,         ///< `03/04/2024`: either may be the month.
    not_of_pattern,       ///< The text is not as its pattern.
    no_day,               ///< `2023-02-29`
    no_time_of_day,       ///< `25:00`
    no_leap_second,       ///< A second 60 where UTC had none.
    out_of_range,         ///< Before EventTime::earliest() or after EventTime::latest().
    number_out_of_range,  ///< The same of a number, which may count another unit.
};

/// The fault in a few words; null for none.
[[nodiscard]] const char* describe(TimeFault fault) noexcept;

/// A date and a time of day. Nothing of it is checked before moment_of().
struct CivilTime {
    int year = 1970;            ///< Of the Gregorian calendar.
    int month = 1;              ///< From 1.
    int day = 1;                ///< Of the month, from 1.
    int hour = 0;               ///< 24 where everything behind it is 0.
    int minute = 0;             ///< To 59.
    int second = 0;             ///< 60 where UTC had a leap second, which counts as the next one.
    std::int64_t ns = 0;        ///< Within the second.
    bool has_offset = false;    ///< Else it is a time of a zone.
    std::int64_t offset_s = 0;  ///< How far it is ahead of UTC.
};

/// The moment of a date and time of day, by its offset or else in the zone. O(1).
TimeFault moment_of(const CivilTime& civil, const TimeZone& zone, EventTime& time);

/// The date and time of day of a moment in a zone, with its offset. O(1).
[[nodiscard]] CivilTime civil_of(EventTime time, const TimeZone& zone = {});

/// Days since the beginning of 1970 of a date that there is. O(1).
[[nodiscard]] constexpr std::int64_t day_number(const CivilTime& civil) noexcept {
    using namespace std::chrono;
    const sys_days day = year{civil.year} / civil.month / civil.day;
    return day.time_since_epoch().count();
}

namespace detail {

inline constexpr std::int64_t second_ns = 1'000'000'000;
inline constexpr std::int64_t day_s = 86'400;

[[nodiscard]] constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) noexcept {
    return a / b - (a % b < 0 ? 1 : 0);
}

}  // namespace detail

}  // namespace strid
