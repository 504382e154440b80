// SPDX-License-Identifier: Apache-2.0
//
// The parts of times as texts. Each function take...() removes one from the beginning of a text, or
// leaves the text as it is (false). Stateless; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <strid/base/civil_time.hpp>

namespace strid::detail {

/// How a half of the day is written.
enum class HalfOfDay : std::uint8_t { none, am, pm };

[[nodiscard]] constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// The number that two digits are, or one that is beyond all parts of times.
[[nodiscard]] constexpr unsigned two_digits(const char* at) noexcept {
    const auto tens = static_cast<unsigned>(at[0] - '0');
    const auto ones = static_cast<unsigned>(at[1] - '0');
    return tens < 10 && ones < 10 ? tens * 10 + ones : 1'000'000;
}

[[nodiscard]] constexpr bool take(std::string_view& text, char c) noexcept {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
}
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
/// `UTC`, `GMT`, `Z`, or the name of an offset: one that means the same everywhere (`EST`, `CEST`),
/// or, of three to five letters, as the zone names it at the local time so far. In either case.
[[nodiscard]] bool take_zone_name(std::string_view& text, const TimeZone& zone, CivilTime& civil);
/// `+01:00`, `-0530`, `+01`.
[[nodiscard]] bool take_offset(std::string_view& text, CivilTime& civil) noexcept;

/// False where the hour is none of a clock of twelve hours.
[[nodiscard]] bool add_half(CivilTime& civil, HalfOfDay half) noexcept;
[[nodiscard]] std::string_view month_name(int month) noexcept;
/// Of the day since 1970.
[[nodiscard]] std::string_view weekday_name(std::int64_t day) noexcept;

}  // namespace strid::detail
