// SPDX-License-Identifier: Apache-2.0
//
// Dates and times of day as a text has them, and the moments that they are. Stateless; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include <strid/base/time.hpp>
#include <strid/base/time_zone.hpp>
#include <strid/connector/csv_value.hpp>

namespace strid::tool {

inline constexpr std::int64_t second_ns = 1'000'000'000;
inline constexpr std::int64_t day_s = 86'400;

/// Nothing of it is checked before moment_of().
struct CivilTime {
    int year = 1970;
    int month = 1;
    int day = 1;
    int hour = 0;  // 24 where everything behind it is 0
    int minute = 0;
    int second = 0;  // 60 where UTC had a leap second, which then counts as the next second
    std::int64_t ns = 0;
    bool has_offset = false;  // else it is a time of the zone
    std::int64_t offset_s = 0;
};

/// How a half of the day is written.
enum class HalfOfDay : std::uint8_t { none, am, pm };

/// Null, or why there is no such moment.
[[nodiscard]] detail::CsvFault moment_of(const CivilTime& civil, const TimeZone& zone,
                                         EventTime& time);
/// False where the hour is none of a clock of twelve hours.
[[nodiscard]] bool add_half(CivilTime& civil, HalfOfDay half) noexcept;

[[nodiscard]] CivilTime civil_of(EventTime time, const TimeZone& zone);
/// Days since the beginning of 1970.
[[nodiscard]] std::int64_t day_number(const CivilTime& civil) noexcept;

// Each function removes a part from the beginning of the text, or leaves the text as it is (false).

[[nodiscard]] bool take(std::string_view& text, char c) noexcept;
/// A word in either case.
[[nodiscard]] bool take_word(std::string_view& text, std::string_view word) noexcept;
/// A number of at least `digits_min` digits and of `digits_max` at most.
[[nodiscard]] bool take_number(std::string_view& text, std::size_t digits_min,
                               std::size_t digits_max, int& number) noexcept;
/// The digits of a fraction of a second; those behind the nanosecond are dropped.
[[nodiscard]] bool take_fraction(std::string_view& text, std::int64_t& ns) noexcept;
[[nodiscard]] bool take_half(std::string_view& text, HalfOfDay& half) noexcept;
/// The name of a month, three letters or all.
[[nodiscard]] bool take_month(std::string_view& text, int& month) noexcept;
[[nodiscard]] bool take_weekday(std::string_view& text) noexcept;
/// `+01:00`, `-0530`, `+01`.
[[nodiscard]] bool take_offset(std::string_view& text, CivilTime& civil) noexcept;

[[nodiscard]] std::string_view month_name(int month) noexcept;
/// Of the day since 1970.
[[nodiscard]] std::string_view weekday_name(std::int64_t day) noexcept;

}  // namespace strid::tool
