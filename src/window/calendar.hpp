// SPDX-License-Identifier: Apache-2.0
//
// Days or months of a time zone by number: the axis on which calendar windows have a fixed length.
// Number 0 begins with 1970. A day is as long as it is, 23 or 25 hours where summer time begins or
// ends, and of no length where the zone skipped it.
//
// Constant, shared by all copies of a specification; any thread.
#pragma once

#include <cstdint>

#include <strid/base/time.hpp>
#include <strid/base/time_zone.hpp>

namespace strid::window {

enum class CalendarAxis : std::uint8_t { days, months };

/// Invariant: numbers rise with time, and begin_of(number_of(time)) <= time.
class Calendar {
  public:
    /// Days and months begin `offset` behind local midnight.
    Calendar(CalendarAxis axis, TimeZone zone, Duration offset);

    /// O(log of the zone's transitions).
    [[nodiscard]] std::int64_t number_of(EventTime time) const noexcept;
    /// The nearest that there is where it is beyond the limits of time.
    [[nodiscard]] EventTime begin_of(std::int64_t number) const noexcept;
    /// So many numbers further on at least `span` has passed.
    [[nodiscard]] std::int64_t numbers_within(Duration span) const noexcept;

  private:
    __extension__ using Wide = __int128;

    [[nodiscard]] Wide begin_ns(std::int64_t number) const noexcept;

    CalendarAxis axis_;
    TimeZone zone_;
    std::int64_t offset_s_;
    std::int64_t offset_ns_;  // behind the second
};

}  // namespace strid::window
