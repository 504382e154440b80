// SPDX-License-Identifier: Apache-2.0
//
// Times as texts: numbers of a unit since 1970, and dates of ISO 8601 and other forms that files
// have. The form of a text that was read is returned, so that other times can be written in it.
// TimePattern reads and writes all others. Plain values, pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <strid/base/civil_time.hpp>
#include <strid/base/time.hpp>
#include <strid/base/time_zone.hpp>

namespace strid {

/// How a time is written.
struct TimeForm {
    /// A number or a date.
    enum class Kind : std::uint8_t {
        unknown,  ///< Written as a decimal.
        integer,  ///< Of the unit.
        decimal,  ///< The same with a point, or without one where it is whole.
        date      ///< As the other members say.
    };
    /// The order of a date, and of its time of day.
    enum class Date : std::uint8_t {
        iso,      ///< `2024-03-31T01:30:00`
        basic,    ///< `20240331T013000`
        slashed,  ///< `2024/03/31 01:30:00`
        us,       ///< `03/31/2024 01:30:00 AM`
        log       ///< `31/Mar/2024:01:30:00 +0000`, as web servers have it
    };
    /// The offset behind a time of day.
    enum class Offset : std::uint8_t {
        none,        ///< A time of the zone.
        z,           ///< `Z`
        utc,         ///< `UTC` behind a space
        colon,       ///< `+01:00`
        basic,       ///< `+0100`
        space,       ///< `+0100` behind a space
        space_colon  ///< `+01:00` behind a space
    };

    Kind kind = Kind::unknown;     ///< A number or a date.
    Date date = Date::iso;         ///< The order of a date.
    char between = 'T';            ///< Date and time of day; 0: a date alone.
    Offset offset = Offset::none;  ///< The offset of a date.
};

/// The properties of times that their texts leave open.
struct TimeNotation {
    std::int64_t unit_ns = 1'000'000;  ///< The unit of numbers; below 10^15.
    char decimal_point = '.';          ///< Of numbers, where they are read.
    TimeZone zone{};                   ///< Of dates without an offset, and of those written.
};

/// Reads the whole text, which has no blanks around it, and returns its form. Eight digits are a
/// number. O(size).
TimeFault read_time(std::string_view text, const TimeNotation& notation, EventTime& time,
                    TimeForm& form);

/// Appends a time in a form. read_time() reads it as the same time, unless it has no offset and the
/// local time occurs twice. O(size).
void append_time(std::string& out, EventTime time, TimeForm form, const TimeNotation& notation);

}  // namespace strid
