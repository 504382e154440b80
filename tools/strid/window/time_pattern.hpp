// SPDX-License-Identifier: Apache-2.0
//
// A pattern for times, written as for strptime and Python's datetime: what --time-format says.
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

#include <strid/base/time.hpp>
#include <strid/base/time_zone.hpp>
#include <strid/connector/csv_value.hpp>

namespace strid::tool {

class TimePattern {
  public:
    /// Throws GraphError for a directive that is unknown, and where no moment can be determined by
    /// what is asked for.
    explicit TimePattern(std::string_view pattern);

    /// The whole text. Null, or what is wrong with it.
    [[nodiscard]] detail::CsvFault read(std::string_view text, const TimeZone& zone,
                                        EventTime& time) const;
    void append(std::string& out, EventTime time, const TimeZone& zone) const;

  private:
    std::string pattern_;  // without the directives that stand for several
    bool is_utc_ = false;  // %Z: written in UTC
    bool is_epoch_ = false;
};

}  // namespace strid::tool
