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

constexpr Wide floor_divide(Wide a, Wide b) noexcept {
    const Wide quotient = a / b;
    return a % b != 0 && a < 0 ? quotient - 1 : quotient;
}

std::int64_t clamped(Wide value) noexcept {
    using Limits = std::numeric_limits<std::int64_t>;
    return static_cast<std::int64_t>(std::clamp<Wide>(value, Limits::min(), Limits::max()));
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
      pane_(std::gcd(length.count(), slide.count())) {}

TimeWindows TimeWindows::sliding(Duration length, Duration slide, Duration offset) {
    check_positive("length", length);
    check_positive("slide", slide);
    return {length, slide, offset};
}

WindowRange<TimeWindows::Index> TimeWindows::containing(EventTime time) const noexcept {
    const Wide since = Wide{time.ns()} - offset_.count();
    const Wide last = floor_divide(since, slide_.count());
    const Wide before_first = floor_divide(since - length_.count(), slide_.count());
    return {clamped(before_first + 1), clamped(last + 1)};
}

TimeBounds TimeWindows::bounds(Index window) const noexcept {
    const Wide start = Wide{window} * slide_.count() + offset_.count();
    return {EventTime::of_ns(clamped(start)), EventTime::of_ns(clamped(start + length_.count()))};
}

TimeWindows::Index TimeWindows::end_over(EventTime watermark) const noexcept {
    const Wide since = Wide{watermark.ns()} - offset_.count() - length_.count();
    return clamped(floor_divide(since, slide_.count()) + 1);
}

CountWindows::CountWindows(std::uint64_t length, std::uint64_t slide)
    : length_(length), slide_(slide), pane_(std::gcd(length, slide)) {}

CountWindows CountWindows::sliding(std::uint64_t length, std::uint64_t slide) {
    check_positive("length", length);
    check_positive("slide", slide);
    return {length, slide};
}

WindowRange<CountWindows::Index> CountWindows::containing(std::uint64_t position) const noexcept {
    const Index end = position / slide_ + 1;
    const Index first = position < length_ ? 0 : (position - length_) / slide_ + 1;
    return {std::min(first, end), end};
}

SessionWindows SessionWindows::with_gap(Duration gap) {
    check_positive("gap", gap);
    return SessionWindows(gap);
}

}  // namespace strid::window
