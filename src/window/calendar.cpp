// SPDX-License-Identifier: Apache-2.0
#include "calendar.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include <strid/base/civil_time.hpp>

namespace strid::window {

namespace {

using strid::detail::day_s;
using strid::detail::floor_divide;
using strid::detail::second_ns;

/// Beyond the limits of time, 292 years around 1970, so that clamped numbers stay beyond them.
constexpr std::int64_t years_max = 300;
constexpr std::int64_t days_max = years_max * 366;
constexpr std::int64_t months_max = years_max * 12;

}  // namespace

Calendar::Calendar(CalendarAxis axis, TimeZone zone, Duration offset)
    : axis_(axis),
      zone_(std::move(zone)),
      offset_s_(floor_divide(offset.count(), second_ns)),
      offset_ns_(offset.count() - offset_s_ * second_ns) {}

Calendar::Wide Calendar::begin_ns(std::int64_t number) const noexcept {
    std::int64_t day = 0;
    if (axis_ == CalendarAxis::days) {
        day = std::clamp(number, -days_max, days_max);
    } else {
        const std::int64_t month = std::clamp(number, -months_max, months_max);
        const std::int64_t year = floor_divide(month, 12);
        day = day_number({.year = static_cast<int>(1970 + year),
                          .month = static_cast<int>(month - year * 12 + 1)});
    }
    return Wide{zone_.first_moment_from(day * day_s + offset_s_)} * second_ns + offset_ns_;
}

EventTime Calendar::begin_of(std::int64_t number) const noexcept {
    using Limits = std::numeric_limits<std::int64_t>;
    return EventTime::of_ns(static_cast<std::int64_t>(
        std::clamp<Wide>(begin_ns(number), Limits::min(), Limits::max())));
}

std::int64_t Calendar::number_of(EventTime time) const noexcept {
    using namespace std::chrono;
    const std::int64_t moment = floor_divide(time.ns(), second_ns);
    const std::int64_t local = moment + zone_.offset_at(moment) - offset_s_;
    std::int64_t number = floor_divide(local, day_s);
    if (axis_ == CalendarAxis::months) {
        const year_month_day date{sys_days{std::chrono::days{number}}};
        number = (static_cast<int>(date.year()) - 1970) * std::int64_t{12} +
                 static_cast<std::int64_t>(static_cast<unsigned>(date.month())) - 1;
    }
    // The clock may have been set back across midnight, and the offset may have a part of a second.
    while (begin_ns(number) > time.ns()) --number;
    while (begin_ns(number + 1) <= time.ns()) ++number;
    return number;
}

std::int64_t Calendar::numbers_within(Duration span) const noexcept {
    // Offsets from UTC lie within a day of each other, however they change meanwhile; twice that.
    constexpr std::int64_t slack_ns = 2 * day_s * second_ns;
    constexpr std::int64_t day_ns = day_s * second_ns;
    const std::int64_t shortest_ns = axis_ == CalendarAxis::days ? day_ns : 28 * day_ns;
    return strid::detail::saturating_add(span.count(), slack_ns) / shortest_ns + 1;
}

}  // namespace strid::window
