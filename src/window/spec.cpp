// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/window/spec.hpp>

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

/// As the number of a window or pane, behind which there is one more: the last one has what would
/// lie in it.
std::int64_t numbered(Wide value) noexcept {
    using Limits = std::numeric_limits<std::int64_t>;
    return static_cast<std::int64_t>(std::clamp<Wide>(value, Limits::min(), Limits::max() - 1));
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

TimeWindows::TimeWindows(Duration length, Duration slide, Duration offset)
    : length_(length),
      slide_(slide),
      offset_(offset),
      pane_(std::gcd(length.count(), slide.count())),
      panes_per_window_(length.count() / pane_.count()),
      panes_per_slide_(slide.count() / pane_.count()) {}

TimeWindows TimeWindows::sliding(Duration length, Duration slide, Duration offset) {
    check_positive("length", length);
    check_positive("slide", slide);
    return {length, slide, offset};
}

WindowRange<TimeWindows::Index> TimeWindows::containing(EventTime time) const noexcept {
    const Wide since = Wide{time.ns()} - offset_.count();
    const Wide last = floor_divide(since, slide_.count());
    const Wide before_first = floor_divide(since - length_.count(), slide_.count());
    return {numbered(before_first + 1), clamped(last + 1)};
}

TimeBounds TimeWindows::bounds(Index window) const noexcept {
    const Wide start = Wide{window} * slide_.count() + offset_.count();
    return {EventTime::of_ns(clamped(start)), EventTime::of_ns(clamped(start + length_.count()))};
}

TimeWindows::Index TimeWindows::pane_of(EventTime time) const noexcept {
    std::int64_t since = 0;
    if (__builtin_sub_overflow(time.ns(), offset_.count(), &since)) {
        return numbered(floor_divide(Wide{time.ns()} - offset_.count(), pane_.count()));
    }
    return numbered(floor_divide(since, pane_.count()));
}

TimeBounds TimeWindows::pane_bounds(Index pane) const noexcept {
    const Wide start = Wide{pane} * pane_.count() + offset_.count();
    return {EventTime::of_ns(clamped(start)), EventTime::of_ns(clamped(start + pane_.count()))};
}

WindowRange<TimeWindows::Index> TimeWindows::panes(Index window) const noexcept {
    const Wide first = Wide{window} * panes_per_slide_;
    return {clamped(first), clamped(first + panes_per_window_)};
}

WindowRange<TimeWindows::Index> TimeWindows::with_pane(Index pane) const noexcept {
    Index before_first = 0;
    if (__builtin_sub_overflow(pane, panes_per_window_, &before_first)) {
        const Wide before = Wide{pane} - panes_per_window_;
        return {clamped(floor_divide(before, panes_per_slide_) + 1),
                clamped(Wide{floor_divide(pane, panes_per_slide_)} + 1)};
    }
    return {strid::detail::saturating_add(floor_divide(before_first, panes_per_slide_), 1),
            strid::detail::saturating_add(floor_divide(pane, panes_per_slide_), 1)};
}

TimeWindows::Index TimeWindows::end_over(EventTime watermark) const noexcept {
    const Wide since = Wide{watermark.ns()} - offset_.count() - length_.count();
    return numbered(floor_divide(since, slide_.count()) + 1);
}

TimeWindows TimeWindows::share(std::size_t index, std::size_t of) const {
    const Wide slide = Wide{slide_.count()} * static_cast<std::int64_t>(of);
    const Wide offset =
        Wide{offset_.count()} + Wide{slide_.count()} * static_cast<std::int64_t>(index);
    if (clamped(slide) != slide || clamped(offset) != offset) {
        throw Error(
            fmt::format("a window that slides by {} ns cannot be shared by {}: the slide of "
                        "one of them would pass the limits of time",
                        slide_.count(), of));
    }
    return sliding(length_, Duration{clamped(slide)}, Duration{clamped(offset)});
}

CountWindows::CountWindows(std::uint64_t length, std::uint64_t slide, std::uint64_t offset)
    : length_(length), slide_(slide), offset_(offset), pane_(std::gcd(length, slide)) {}

CountWindows CountWindows::share(std::size_t index, std::size_t of) const {
    std::uint64_t slide = 0;
    if (__builtin_mul_overflow(slide_, of, &slide)) {
        slide =
            std::numeric_limits<std::uint64_t>::max() / slide_ * slide_;  // nobody counts so far
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
