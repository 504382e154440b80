// SPDX-License-Identifier: Apache-2.0
//
// Which records belong to which windows. A specification is a plain value with the arithmetic of
// its windows; it holds no record. Times may be negative and may lie at the limits of their type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <strid/base/time.hpp>
#include <strid/base/time_zone.hpp>

namespace strid::window {

class Calendar;

/// A window of event time: start <= t < end.
struct TimeBounds {
    EventTime start;  ///< The first time in the window.
    EventTime end;    ///< The first time behind the window.
    friend bool operator==(const TimeBounds&, const TimeBounds&) = default;
};

/// A window of positions in the stream of a key: the first record has position 0.
struct CountBounds {
    std::uint64_t start;  ///< The first position in the window.
    std::uint64_t end;    ///< The first position behind the window.
    friend bool operator==(const CountBounds&, const CountBounds&) = default;
};

/// Windows by number, oldest first: [first, end), none where they are equal.
template <class Index>
struct WindowRange {
    Index first;  ///< The number of the oldest window.
    Index end;    ///< One more than the number of the newest.
    /// How many windows there are.
    [[nodiscard]] constexpr Index size() const noexcept { return end - first; }
    /// Whether the window with this number is one of them.
    [[nodiscard]] constexpr bool has(Index window) const noexcept {
        return window >= first && window < end;
    }
    friend bool operator==(const WindowRange&, const WindowRange&) = default;
};

/// A length in days or months of the calendar. Weeks begin on Monday, quarters in January, April,
/// July and October; several of them are counted from the one in which 1970 began.
class CalendarSpan {
  public:
    /// The unit that is counted.
    enum class Unit : std::uint8_t {
        day,      ///< From midnight to midnight.
        week,     ///< Seven days from a Monday.
        month,    ///< Of the calendar: 28 to 31 days.
        quarter,  ///< Three months.
        year      ///< Of the calendar: 365 or 366 days.
    };

    /// `count` units; TimeWindows throws Error for a count that is not positive.
    constexpr CalendarSpan(std::int64_t count, Unit unit) noexcept : count_(count), unit_(unit) {}

    /// How many units.
    [[nodiscard]] constexpr std::int64_t count() const noexcept { return count_; }
    /// The unit that is counted.
    [[nodiscard]] constexpr Unit unit() const noexcept { return unit_; }
    /// Days and weeks are days, the others months.
    [[nodiscard]] constexpr bool is_of_days() const noexcept {
        return unit_ == Unit::day || unit_ == Unit::week;
    }

  private:
    std::int64_t count_;
    Unit unit_;
};

/// Windows of a fixed length that begin every `slide`: window k covers [offset + k * slide, offset
/// + k * slide + length). Overlapping where the slide is shorter than the length (sliding,
/// hopping), side by side where it is as long (tumbling), with gaps where it is longer. Bounds and
/// numbers beyond the limits of EventTime become these limits. If windows begin every nanosecond,
/// the last moment lies in the window of the moment before it.
///
/// Calendar windows have a fixed length, too, in days or months of a time zone: that is the axis on
/// which `length`, `slide`, `offset` and `pane` count then. Their bounds are moments as those of
/// others are, and so are watermarks and lateness: days of summer time have 23 or 25 hours. For
/// them event time has to count from 1970 (UTC).
class TimeWindows {
  public:
    /// The number of a window; windows that begin before zero have negative numbers.
    using Index = std::int64_t;

    /// Throws Error for a length or a slide that is not positive.
    [[nodiscard]] static TimeWindows sliding(Duration length, Duration slide,
                                             Duration offset = Duration::zero());
    /// Windows that follow each other without a gap. Throws Error as sliding() does.
    [[nodiscard]] static TimeWindows tumbling(Duration length, Duration offset = Duration::zero()) {
        return sliding(length, length, offset);
    }

    /// Windows of the local time of a zone, UTC by default, that begin `offset` behind midnight: a
    /// day begins with the first moment whose local time is not before that. Throws Error for a
    /// length or a slide that is not positive or too long, and where one counts days and the other
    /// months.
    [[nodiscard]] static TimeWindows calendar(CalendarSpan length, CalendarSpan slide,
                                              TimeZone zone = {},
                                              Duration offset = Duration::zero());
    /// Calendar windows that follow each other without a gap. Throws Error as the function above.
    [[nodiscard]] static TimeWindows calendar(CalendarSpan length, TimeZone zone = {},
                                              Duration offset = Duration::zero());
    /// Windows of a day each, from midnight to midnight in `zone`.
    [[nodiscard]] static TimeWindows days(TimeZone zone = {});
    /// Windows of a week each, from Monday on.
    [[nodiscard]] static TimeWindows weeks(TimeZone zone = {});
    /// Windows of a calendar month each.
    [[nodiscard]] static TimeWindows months(TimeZone zone = {});
    /// Windows of three months each: from January, April, July and October.
    [[nodiscard]] static TimeWindows quarters(TimeZone zone = {});
    /// Windows of a calendar year each.
    [[nodiscard]] static TimeWindows years(TimeZone zone = {});

    /// Every `of`-th window from window `index` on (paper 1: the internal slide of s times the
    /// parallelism): window k of the share is window k * of + index. Throws Error where the slide
    /// would pass the limits of Duration.
    [[nodiscard]] TimeWindows share(std::size_t index, std::size_t of) const;

    /// From the start of a window to its end; in units of their own for calendar windows.
    [[nodiscard]] Duration length() const noexcept { return length_; }
    /// From the start of a window to the start of the next; as length().
    [[nodiscard]] Duration slide() const noexcept { return slide_; }
    /// The shift of the starts.
    [[nodiscard]] Duration offset() const noexcept { return offset_; }
    /// Whether the lengths count days or months instead of nanoseconds.
    [[nodiscard]] bool is_calendar() const noexcept { return calendar_ != nullptr; }
    /// The longest piece of time of which every window is a whole number: records that lie in the
    /// same pane lie in the same windows.
    [[nodiscard]] Duration pane() const noexcept { return pane_; }

    /// The windows that a time lies in.
    [[nodiscard]] WindowRange<Index> containing(EventTime time) const noexcept;
    /// The times that window `window` covers. O(1).
    [[nodiscard]] TimeBounds bounds(Index window) const noexcept;
    /// The pane that a time lies in, by number.
    [[nodiscard]] Index pane_of(EventTime time) const noexcept;
    /// Whether the number of its pane is not just the nearest that there is. A share says what the
    /// whole does.
    [[nodiscard]] bool has_number(EventTime time) const noexcept {
        const bool is_behind = time > last_ && last_ + Duration{1} != EventTime::latest();
        return time >= first_ && !is_behind;
    }
    /// The times that pane `pane` covers. O(1).
    [[nodiscard]] TimeBounds pane_bounds(Index pane) const noexcept;
    /// Each pane as a window of its own.
    [[nodiscard]] TimeWindows panes_as_windows() const {
        return {pane_, pane_, origin_, calendar_};
    }
    /// The panes of a window.
    [[nodiscard]] WindowRange<Index> panes(Index window) const noexcept;
    /// The windows that have a pane.
    [[nodiscard]] WindowRange<Index> with_pane(Index pane) const noexcept;
    /// The windows that are over at `watermark`: all up to the one before `end_over`.
    [[nodiscard]] Index end_over(EventTime watermark) const noexcept;
    /// So many windows further on a window ends at least `span` later.
    [[nodiscard]] Index windows_within(Duration span) const noexcept;

  private:
    TimeWindows(Duration length, Duration slide, Duration offset,
                std::shared_ptr<const Calendar> calendar = nullptr);

    /// Between time and the axis that the lengths count on.
    [[nodiscard]] std::int64_t position_of(EventTime time) const noexcept;
    template <class Position>
    [[nodiscard]] EventTime moment_at(Position position) const noexcept;

    /// Its own number of the first window that is not before `window` of the whole.
    [[nodiscard]] Index own_number(Index window) const noexcept;

    std::shared_ptr<const Calendar> calendar_;  // null: the axis is time
    Duration length_;
    Duration slide_;
    Duration offset_;
    Duration pane_;
    Index panes_per_window_;
    Index panes_per_slide_;
    // Panes of a share are numbered from where those of the whole are, so that a number which the
    // whole has does not pass its limits here.
    Duration origin_;       // where pane 0 begins
    Index first_pane_ = 0;  // of window 0
    EventTime first_;       // moment that has a pane of its own in the whole
    EventTime last_;
    Index first_window_;
    Duration whole_slide_;
    Duration whole_offset_;
    Index index_ = 0;
    Index of_ = 1;
};

/// Windows of a number of records: window k covers the positions
/// [offset + k * slide, offset + k * slide + length).
class CountWindows {
  public:
    /// The number of a window: 0 is the first of the key.
    using Index = std::uint64_t;

    /// Throws Error for a length or a slide of 0.
    [[nodiscard]] static CountWindows sliding(std::uint64_t length, std::uint64_t slide);
    /// Windows that follow each other without a gap. Throws Error for a length of 0.
    [[nodiscard]] static CountWindows tumbling(std::uint64_t length) {
        return sliding(length, length);
    }

    /// As TimeWindows::share. Never throws: what would begin beyond the last position never begins.
    [[nodiscard]] CountWindows share(std::size_t index, std::size_t of) const;

    /// Records in a window.
    [[nodiscard]] std::uint64_t length() const noexcept { return length_; }
    /// Records from the start of a window to the start of the next.
    [[nodiscard]] std::uint64_t slide() const noexcept { return slide_; }
    /// Records before the first window: not 0 in a share only.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
    /// Records in a pane: the greatest common divisor of length and slide.
    [[nodiscard]] std::uint64_t pane() const noexcept { return pane_; }

    /// The windows that a position lies in. O(1).
    [[nodiscard]] WindowRange<Index> containing(std::uint64_t position) const noexcept;
    /// The positions that window `window` covers. O(1).
    [[nodiscard]] CountBounds bounds(Index window) const noexcept {
        return {offset_ + window * slide_, offset_ + window * slide_ + length_};
    }

  private:
    CountWindows(std::uint64_t length, std::uint64_t slide, std::uint64_t offset);

    std::uint64_t length_;
    std::uint64_t slide_;
    std::uint64_t offset_;
    std::uint64_t pane_;
};

/// Windows that last as long as records keep coming: a session ends when nothing came for `gap`.
class SessionWindows {
  public:
    /// Throws Error for a gap that is not positive.
    [[nodiscard]] static SessionWindows with_gap(Duration gap);

    /// The longest time between two records of a session.
    [[nodiscard]] Duration gap() const noexcept { return gap_; }
    /// The session of a record alone; sessions that overlap or touch are one. None is empty: that
    /// of the last moment there is begins before it.
    [[nodiscard]] TimeBounds of(EventTime time) const noexcept {
        const EventTime last_start = EventTime::latest() - Duration{1};
        return {std::min(time, last_start), time + gap_};
    }

  private:
    explicit SessionWindows(Duration gap) : gap_(gap) {}

    Duration gap_;
};

}  // namespace strid::window
