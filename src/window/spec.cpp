// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/window/spec.hpp>

#include "calendar.hpp"

namespace strid::window {

namespace {

/// Wide enough that no sum or product of two 64-bit numbers passes its limits.
__extension__ using Wide = __int128;

template <class Number>
constexpr Number floor_divide(Number a, std::int64_t b) noexcept {
    const Number quotient = a / b;
    return a % b != 0 && a < 0 ? quotient - 1 : quotient;
}

std::int64_t clamped(Wide value) noexcept {
    using Limits = std::numeric_limits<std::int64_t>;
    return static_cast<std::int64_t>(std::clamp<Wide>(value, Limits::min(), Limits::max()));
}

EventTime moment(Wide ns) noexcept {
    return EventTime::of_ns(clamped(ns));
}

/// Of windows and panes. Behind the last one there is one more: the last one has what would lie in
/// it.
constexpr std::int64_t first_number = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t last_number = std::numeric_limits<std::int64_t>::max() - 1;

std::int64_t numbered(Wide value) noexcept {
    return static_cast<std::int64_t>(std::clamp<Wide>(value, first_number, last_number));
}

void check_positive(const char* what, Duration duration) {
    if (duration > Duration::zero()) return;
    throw Error(
        fmt::format("the {} of a window is {} ns: it must be positive", what, duration.count()));
}

void check_positive(const char* what, std::uint64_t count) {
    if (count == 0) throw Error(fmt::format("the {} of a window is 0 records", what));
}

}  // namespace

TimeWindows::TimeWindows(Duration length, Duration slide, Duration offset,
                         std::shared_ptr<const Calendar> calendar)
    : calendar_(std::move(calendar)),
      length_(length),
      slide_(slide),
      offset_(offset),
      pane_(std::gcd(length.count(), slide.count())),
      panes_per_window_(length.count() / pane_.count()),
      panes_per_slide_(slide.count() / pane_.count()),
      origin_(offset),
      first_(moment(Wide{first_number} * pane_.count() + offset.count())),
      last_(moment(Wide{last_number + 1} * pane_.count() + offset.count() - 1)),
      first_window_(first_number),
      whole_slide_(slide),
      whole_offset_(offset) {
    if (calendar_) {  // which has a number for each moment
        first_ = EventTime::earliest();
        last_ = EventTime::latest();
    }
}

inline std::int64_t TimeWindows::position_of(EventTime time) const noexcept {
    return calendar_ ? calendar_->number_of(time) : time.ns();
}

template <class Position>
inline EventTime TimeWindows::moment_at(Position position) const noexcept {
    return calendar_ ? calendar_->begin_of(clamped(position)) : moment(position);
}

TimeWindows TimeWindows::sliding(Duration length, Duration slide, Duration offset) {
    check_positive("length", length);
    check_positive("slide", slide);
    return {length, slide, offset};
}

namespace {

/// In days or months; nothing where it is not positive or longer than time is.
Duration positions(const char* what, CalendarSpan span) {
    constexpr std::int64_t years_max = 600;
    const auto in = [&](std::int64_t per_unit, std::int64_t per_year) {
        if (span.count() < 1 || span.count() > years_max * per_year / per_unit) {
            throw Error(
                fmt::format("the {} of a window is {} units of the calendar: it must be "
                            "positive, and no longer than time is",
                            what, span.count()));
        }
        return Duration{span.count() * per_unit};
    };
    switch (span.unit()) {
        case CalendarSpan::Unit::week:
            return in(7, 366);
        case CalendarSpan::Unit::day:
            return in(1, 366);
        case CalendarSpan::Unit::quarter:
            return in(3, 12);
        case CalendarSpan::Unit::year:
            return in(12, 12);
        default:
            return in(1, 12);
    }
}

}  // namespace

TimeWindows TimeWindows::calendar(CalendarSpan length, CalendarSpan slide, TimeZone zone,
                                  Duration offset) {
    if (length.is_of_days() != slide.is_of_days()) {
        throw Error(
            "the length and the slide of a calendar window are both of days and weeks, or both of "
            "months, quarters and years");
    }
    const bool of_days = slide.is_of_days();
    constexpr Duration first_monday{-3};  // 1970 began on a Thursday
    return {positions("length", length), positions("slide", slide),
            slide.unit() == CalendarSpan::Unit::week ? first_monday : Duration::zero(),
            std::make_shared<const Calendar>(of_days ? CalendarAxis::days : CalendarAxis::months,
                                             std::move(zone), offset)};
}

TimeWindows TimeWindows::calendar(CalendarSpan length, TimeZone zone, Duration offset) {
    return calendar(length, length, std::move(zone), offset);
}

TimeWindows TimeWindows::days(TimeZone zone) {
    return calendar({1, CalendarSpan::Unit::day}, std::move(zone));
}
TimeWindows TimeWindows::weeks(TimeZone zone) {
    return calendar({1, CalendarSpan::Unit::week}, std::move(zone));
}
TimeWindows TimeWindows::months(TimeZone zone) {
    return calendar({1, CalendarSpan::Unit::month}, std::move(zone));
}
TimeWindows TimeWindows::quarters(TimeZone zone) {
    return calendar({1, CalendarSpan::Unit::quarter}, std::move(zone));
}
TimeWindows TimeWindows::years(TimeZone zone) {
    return calendar({1, CalendarSpan::Unit::year}, std::move(zone));
}

TimeWindows::Index TimeWindows::own_number(Index window) const noexcept {
    if (of_ == 1) return window;
    return static_cast<Index>(floor_divide(Wide{window} - index_ - 1, of_) + 1);
}

WindowRange<TimeWindows::Index> TimeWindows::containing(EventTime time) const noexcept {
    const Wide since = Wide{position_of(std::clamp(time, first_, last_))} - offset_.count();
    const Wide last = floor_divide(since, slide_.count());
    const Wide before_first = floor_divide(since - length_.count(), slide_.count());
    return {std::max(numbered(before_first + 1), first_window_), clamped(last + 1)};
}

TimeBounds TimeWindows::bounds(Index window) const noexcept {
    const Wide start = Wide{window} * slide_.count() + offset_.count();
    return {moment_at(start), moment_at(start + length_.count())};
}

TimeWindows::Index TimeWindows::pane_of(EventTime time) const noexcept {
    const std::int64_t position = position_of(std::clamp(time, first_, last_));
    std::int64_t since = 0;
    if (__builtin_sub_overflow(position, origin_.count(), &since)) {
        return numbered(floor_divide(Wide{position} - origin_.count(), pane_.count()));
    }
    return numbered(floor_divide(since, pane_.count()));
}

TimeBounds TimeWindows::pane_bounds(Index pane) const noexcept {
    const Wide start = Wide{pane} * pane_.count() + origin_.count();
    return {moment_at(start), moment_at(start + pane_.count())};
}

WindowRange<TimeWindows::Index> TimeWindows::panes(Index window) const noexcept {
    const Wide first = Wide{window} * panes_per_slide_ + first_pane_;
    return {clamped(first), clamped(first + panes_per_window_)};
}

WindowRange<TimeWindows::Index> TimeWindows::with_pane(Index pane) const noexcept {
    Index since = 0;
    Index before_first = 0;
    if (__builtin_sub_overflow(pane, first_pane_, &since) ||
        __builtin_sub_overflow(since, panes_per_window_, &before_first)) {
        const Wide own = Wide{pane} - first_pane_;
        const Wide before = own - panes_per_window_;
        return {std::max(clamped(floor_divide(before, panes_per_slide_) + 1), first_window_),
                clamped(floor_divide(own, panes_per_slide_) + 1)};
    }
    return {std::max(strid::detail::saturating_add(floor_divide(before_first, panes_per_slide_), 1),
                     first_window_),
            strid::detail::saturating_add(floor_divide(since, panes_per_slide_), 1)};
}

TimeWindows::Index TimeWindows::end_over(EventTime watermark) const noexcept {
    const Wide since = Wide{position_of(watermark)} - whole_offset_.count() - length_.count();
    return own_number(numbered(floor_divide(since, whole_slide_.count()) + 1));
}

TimeWindows::Index TimeWindows::windows_within(Duration span) const noexcept {
    const std::int64_t positions = calendar_ ? calendar_->numbers_within(span) : span.count();
    return positions / slide_.count() + 1;
}

TimeWindows TimeWindows::share(std::size_t index, std::size_t of) const {
    const auto number = static_cast<Index>(index);
    const Wide slide = Wide{slide_.count()} * static_cast<Index>(of);
    const Wide ahead = Wide{slide_.count()} * number;
    const Wide offset = Wide{offset_.count()} + ahead;
    if (clamped(slide) != slide || clamped(offset) != offset) {
        throw Error(
            fmt::format("a window that slides by {} ns cannot be shared by {}: the slide of "
                        "one of them would pass the limits of time",
                        slide_.count(), of));
    }
    TimeWindows share{length_, Duration{clamped(slide)}, Duration{clamped(offset)}, calendar_};
    share.index_ = number;
    share.of_ = static_cast<Index>(of);
    share.first_ = first_;
    share.last_ = last_;
    share.first_window_ = share.own_number(first_window_);
    share.whole_slide_ = slide_;
    share.whole_offset_ = offset_;
    share.first_pane_ = clamped(ahead / share.pane_.count());
    share.origin_ = offset_ + Duration{clamped(ahead % share.pane_.count())};
    return share;
}

CountWindows::CountWindows(std::uint64_t length, std::uint64_t slide, std::uint64_t offset)
    : length_(length), slide_(slide), offset_(offset), pane_(std::gcd(length, slide)) {}

CountWindows CountWindows::share(std::size_t index, std::size_t of) const {
    std::uint64_t slide = 0;
    if (__builtin_mul_overflow(slide_, of, &slide)) {
        slide =
            std::numeric_limits<std::uint64_t>::max() / slide_ * slide_;  // no stream is so long
    }
    return {length_, slide, offset_ + index * slide_};
}

CountWindows CountWindows::sliding(std::uint64_t length, std::uint64_t slide) {
    check_positive("length", length);
    check_positive("slide", slide);
    return {length, slide, 0};
}

WindowRange<CountWindows::Index> CountWindows::containing(std::uint64_t position) const noexcept {
    if (position < offset_) return {0, 0};
    const std::uint64_t since = position - offset_;
    const Index end = since / slide_ + 1;
    const Index first = since < length_ ? 0 : (since - length_) / slide_ + 1;
    return {std::min(first, end), end};
}

SessionWindows SessionWindows::with_gap(Duration gap) {
    check_positive("gap", gap);
    return SessionWindows(gap);
}

}  // namespace strid::window
