// SPDX-License-Identifier: Apache-2.0
//
// A guard against records from the future. A device whose clock is wrong may send a time far ahead
// of the machine's clock; it would move the watermark on and make all other records late. A time in
// the past is never dropped, however far it is from its neighbours: a stream may have paused. For
// times whose zero is 1970.
//
// Threads: as any function of an operator, a copy for each replica.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/base/field.hpp>
#include <strid/engine/base/member_pointer.hpp>
#include <strid/operator/event_time.hpp>

namespace strid {

/// The latest time that is accepted: `ahead` of the clock, which is read only if a time is beyond
/// the last limit.
class ClockLimit {
  public:
    /// Throws Error if the time is negative.
    explicit ClockLimit(Duration ahead) : ahead_(ahead) {
        if (ahead < Duration::zero()) {
            throw Error("how far times may be ahead of the clock must not be negative");
        }
    }

    /// Whether `time` lies further ahead of the clock than is allowed. Reads the clock only where
    /// it does by what was read last.
    [[nodiscard]] bool is_beyond(EventTime time) noexcept {
        if (time <= limit_) [[likely]]
            return false;
        limit_ = EventTime{std::chrono::system_clock::now().time_since_epoch()} + ahead_;
        return time > limit_;
    }

  private:
    Duration ahead_;
    EventTime limit_ = EventTime::earliest();
};

/// `stream.filter(not_ahead_of_clock(time_of, 1h))` before `event_time`: drops records from the
/// future. As a function of `split` it separates them.
template <class TimeOf>
class NotAheadOfClock {
    static_assert((refuse_member_pointer<TimeOf>(), true));

  public:
    /// Times further than `ahead` from the machine's clock are refused.
    NotAheadOfClock(TimeOf time_of, Duration ahead) : time_of_(std::move(time_of)), limit_(ahead) {}

    /// True keeps the record.
    template <class T>
        requires TimeFunction<TimeOf, T>
    [[nodiscard]] bool operator()(const T& record) {
        return !limit_.is_beyond(std::invoke(time_of_, record));
    }

  private:
    [[no_unique_address]] TimeOf time_of_;
    ClockLimit limit_;
};

/// A function for `filter` that drops records whose time lies more than `ahead` in the future.
template <class TimeOf>
[[nodiscard]] NotAheadOfClock<TimeOf> not_ahead_of_clock(TimeOf time_of, Duration ahead) {
    return {std::move(time_of), ahead};
}

}  // namespace strid
