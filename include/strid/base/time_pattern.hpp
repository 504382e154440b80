// SPDX-License-Identifier: Apache-2.0
//
// A pattern for times, written as for strptime and Python's datetime.
//
//     %Y %y %m %d %e %j %b %B %h  the date: the year in four or two digits (69 is 1969), month,
//                                 day, day of the year, the month's name (three letters or all)
//     %H %I %M %S %f %p           the time: hour of 24 or 12, minute, second, the digits of a
//                                 fraction of a second, AM or PM
//     %z %Z                       the offset (+0100, +01:00, Z); UTC, GMT, Z, or the name of an
//                                 offset (EST, CEST, or as the zone of the text calls it)
//     %s                          seconds since 1970
//     %a %A                       the name of the weekday, which says nothing
//     %F %T %R %D                 %Y-%m-%d, %H:%M:%S, %H:%M, %m/%d/%y
//     %% %n %t                    a percent sign, white space
//
// White space stands for any amount of it, also none; letters that are written are those that come.
// Constant; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <strid/base/civil_time.hpp>
#include <strid/base/time.hpp>
#include <strid/base/time_zone.hpp>

namespace strid {

/// Where a pattern without a year (`%b %d %H:%M:%S`, of syslog) has it from.
enum class PatternYear : std::uint8_t {
    of_text,   ///< There must be one in the text.
    of_reader  ///< TimePattern::read() is given one for texts that have none.
};

/// How times are written as text, as `%Y-%m-%d %H:%M:%S`. Constant; any thread.
class TimePattern {
  public:
    /// Throws Error for an unknown directive, and for a pattern that determines no moment.
    explicit TimePattern(std::string_view pattern, PatternYear year = PatternYear::of_text);

    /// Reads the whole text, a time of the zone where it has no offset, of `year` where the pattern
    /// has none. O(size).
    TimeFault read(std::string_view text, const TimeZone& zone, EventTime& time,
                   int year = 1970) const;
    /// Whether texts have a year, or seconds since 1970.
    [[nodiscard]] bool has_year() const noexcept { return has_year_; }
    /// Whether texts determine their offset: the zone is not looked at.
    [[nodiscard]] bool has_offset() const noexcept { return has_offset_; }
    /// Appends the time, in the zone unless the pattern has a `%Z`. O(size).
    void append(std::string& out, EventTime time, const TimeZone& zone) const;

    /// The least by which two times differ whose texts do: a nanosecond for %f, a second, a
    /// minute, an hour, a day; a month counts as 31 days, a year as 366. O(size of the pattern).
    [[nodiscard]] Duration unit() const;

  private:
    std::string pattern_;  // without the directives that stand for several
    bool is_utc_ = false;  // %Z: written in UTC
    bool is_epoch_ = false;
    bool has_year_ = true;
    bool has_offset_ = false;
};

}  // namespace strid
