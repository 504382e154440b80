// SPDX-License-Identifier: Apache-2.0
//
// Points in time, with one type for each of the three times of a stream, so that they cannot be
// confused: when an event happened (event time, a value in the record), when it entered the graph
// (ingress time), and when it is processed (processing time). All count nanoseconds. The data
// define the zero of event time; the other two use the machine's monotonic clock.
//
// Arithmetic saturates: the earliest and the latest point mean "before everything" and "after
// everything". A sum beyond them stays there, and so does a time in another unit that is out of
// range. Plain values.
#pragma once

#include <chrono>
#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <ratio>
#include <utility>

namespace strid {

/// A length of time, in nanoseconds.
using Duration = std::chrono::nanoseconds;

namespace detail {

[[nodiscard]] constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return b < 0 ? std::numeric_limits<std::int64_t>::min()
                 : std::numeric_limits<std::int64_t>::max();
}

[[nodiscard]] constexpr std::int64_t saturating_subtract(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t difference = 0;
    if (!__builtin_sub_overflow(a, b, &difference)) return difference;
    return b > 0 ? std::numeric_limits<std::int64_t>::min()
                 : std::numeric_limits<std::int64_t>::max();
}

/// The nearest number of nanoseconds to a duration of any unit; NaN counts as zero.
template <class Count, class Unit>
[[nodiscard]] constexpr std::int64_t saturating_ns(
    std::chrono::duration<Count, Unit> duration) noexcept {
    using InNs = std::ratio_divide<Unit, std::nano>;
    if constexpr (std::integral<Count> && InNs::den == 1) {
        std::int64_t ns = 0;
        if (!__builtin_mul_overflow(duration.count(), InNs::num, &ns)) return ns;
        return std::cmp_less(duration.count(), 0) ? std::numeric_limits<std::int64_t>::min()
                                                  : std::numeric_limits<std::int64_t>::max();
    } else if constexpr (std::floating_point<Count>) {
        constexpr Count beyond = 9'223'372'036'854'775'808.0F;  // 2 to the power of 63
        const Count ns = std::chrono::duration<Count, std::nano>(duration).count();
        if (ns >= beyond) return std::numeric_limits<std::int64_t>::max();
        if (ns < -beyond) return std::numeric_limits<std::int64_t>::min();
        return ns == ns ? static_cast<std::int64_t>(ns) : 0;
    } else {
        return std::chrono::duration_cast<Duration>(duration).count();
    }
}

}  // namespace detail

/// A point in the time that `Domain` names.
template <class Domain>
class TimePoint {
  public:
    constexpr TimePoint() noexcept = default;
    /// A time after zero, kept within what 64 bits of nanoseconds can hold.
    template <class Count, class Unit>
    constexpr explicit TimePoint(std::chrono::duration<Count, Unit> since_zero) noexcept
        : ns_(detail::saturating_ns(since_zero)) {}
    /// The time `ns` nanoseconds after zero.
    [[nodiscard]] static constexpr TimePoint of_ns(std::int64_t ns) noexcept {
        return TimePoint{Duration{ns}};
    }

    /// Before everything, and after everything.
    [[nodiscard]] static constexpr TimePoint earliest() noexcept {
        return of_ns(std::numeric_limits<std::int64_t>::min());
    }
    /// The last time that can be represented: behind every record.
    [[nodiscard]] static constexpr TimePoint latest() noexcept {
        return of_ns(std::numeric_limits<std::int64_t>::max());
    }

    /// Nanoseconds after zero.
    [[nodiscard]] constexpr std::int64_t ns() const noexcept { return ns_; }

    friend constexpr auto operator<=>(TimePoint, TimePoint) noexcept = default;
    /// A later time, at most latest().
    [[nodiscard]] friend constexpr TimePoint operator+(TimePoint time, Duration by) noexcept {
        return of_ns(detail::saturating_add(time.ns_, by.count()));
    }
    /// An earlier time, at least earliest().
    [[nodiscard]] friend constexpr TimePoint operator-(TimePoint time, Duration by) noexcept {
        return of_ns(detail::saturating_subtract(time.ns_, by.count()));
    }
    /// The time from `sooner` to `later`, kept within the limits of Duration.
    [[nodiscard]] friend constexpr Duration operator-(TimePoint later, TimePoint sooner) noexcept {
        return Duration{detail::saturating_subtract(later.ns_, sooner.ns_)};
    }

  private:
    std::int64_t ns_ = 0;
};

/// The time at which the event of a record happened. The data defines what zero means.
using EventTime = TimePoint<struct EventTimeDomain>;
/// When a record came into the graph, by the machine's monotonic clock.
using IngressTime = TimePoint<struct IngressTimeDomain>;
/// When a record is handled, by the machine's monotonic clock.
using ProcessingTime = TimePoint<struct ProcessingTimeDomain>;

}  // namespace strid
