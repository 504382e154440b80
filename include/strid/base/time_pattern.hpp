// SPDX-License-Identifier: Apache-2.0
//
// A pattern for times, written as for strptime and Python's datetime.
//
//     %Y %y %m %d %e %j %b %B %h  the date: the year in four or two digits (69 is 1969), month,
//                                 day, day of the year, the month's name (three letters or all)
//     %H %I %M %S %f %p           the time: hour of 24 or 12, minute, second, the digits of a
//                                 fraction of a second, AM or PM
//     %z %Z                       the offset (+0100, +01:00, Z); UTC, GMT or Z
//     %s                          seconds since 1970
//     %a %A                       the name of the weekday, which says nothing
//     %F %T %R %D                 %Y-%m-%d, %H:%M:%S, %H:%M, %m/%d/%y
//     %% %n %t                    a percent sign, white space
//
// White space stands for any amount of it, also none; letters that are written are those that come.
// Constant; any thread.
#pragma once

#include <string>
#include <string_view>

#include <strid/base/civil_time.hpp>
#include <strid/base/time.hpp>
#include <strid/base/time_zone.hpp>

namespace strid {

/// How times are written as text, as `%Y-%m-%d %H:%M:%S`. Constant; any thread.
class TimePattern {
  public:
    /// Throws Error for an unknown directive, and for a pattern that determines no moment.
    explicit TimePattern(std::string_view pattern);

    /// Reads the whole text, a time of the zone where it has no offset. O(size).
    TimeFault read(std::string_view text, const TimeZone& zone, EventTime& time) const;
    /// Appends the time, in the zone unless the pattern has a `%Z`. O(size).
    void append(std::string& out, EventTime time, const TimeZone& zone) const;

    /// The least by which two times differ whose texts do: a nanosecond for %f, a second, a
    /// minute, an hour, a day; a month counts as 31 days, a year as 366. O(size of the pattern).
    [[nodiscard]] Duration unit() const;

  private:
    std::string pattern_;  // without the directives that stand for several
    bool is_utc_ = false;  // %Z: written in UTC
    bool is_epoch_ = false;
};

}  // namespace strid
