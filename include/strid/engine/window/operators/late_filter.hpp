// SPDX-License-Identifier: Apache-2.0
//
// Takes the late records out of a stream before several replicas have each record of it. Each of
// these replicas learns the watermark by itself. Behind several inputs, or one that was idle, one
// replica would take a record that is late for another. Behind one replica of this stage no record
// is late.
//
// Late records are counted, and dropped unless they are a stream of their own
// (engine/operator/late_apart.hpp). One comparison for each record.
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include <strid/base/time.hpp>
#include <strid/engine/operator/agreed_time.hpp>
#include <strid/operator/contract.hpp>
#include <strid/window/result.hpp>
#include <strid/window/spec.hpp>

namespace strid::window {

/// A record is late if it lies behind the watermark of its own input by more than the lateness,
/// which is the same in every run; or behind the joint watermark, where its input was idle.
struct LateByWatermark {
    Duration lateness;

    [[nodiscard]] EventTime late_before(EventTime asserted, EventTime passed) const noexcept {
        return std::max(asserted, passed) - lateness;
    }
    [[nodiscard]] static bool is_missed(EventTime) noexcept { return true; }
};

/// A record is late if all its windows are closed. With LateBy::own_input it is also late if one of
/// its windows has been over for more than the lateness by the watermark of that input.
struct LateByWindows {
    TimeWindows windows;
    Duration lateness;
    LateBy late_by = LateBy::slowest_input;

    [[nodiscard]] EventTime late_before(EventTime asserted, EventTime passed) const noexcept {
        const EventTime closed = windows.bounds(windows.end_over(passed - lateness)).start;
        if (late_by == LateBy::slowest_input) return closed;
        const auto next = windows.end_over(asserted - lateness);
        if (next == std::numeric_limits<TimeWindows::Index>::min()) return closed;  // none is over
        return std::max(closed, windows.bounds(next - 1).end);
    }
    /// Not what lies between two windows.
    [[nodiscard]] bool is_missed(EventTime time) const noexcept {
        return windows.containing(time).size() > 0;
    }
};

template <class T, class TimeOf, class Rule>
class LateFilter : public OperatorTypes<T, T> {
  public:
    static constexpr OperatorTraits traits{.kind = "in_time",
                                           .emits = Emits::at_most_one,
                                           .hears = events<BatchBegins, Watermark>,
                                           .has = Has::time_of,
                                           .needs_watermarks = true,
                                           .passes_records = true,
                                           .finds_late = true,
                                           .one_replica = true};

    LateFilter(TimeOf time_of, Rule rule) : time_of_(std::move(time_of)), rule_(std::move(rule)) {}

    /// For the engine (engine/operator/agreed_time.hpp).
    auto& time_of() noexcept { return time_of_; }
    auto state() { return std::tie(passed_); }
    void on(const BatchBegins& batch) noexcept {
        late_before_ = rule_.late_before(batch.watermark, passed_);
    }

    void process(T& record, auto& emit) {
        const EventTime time = time_of_(record);
        if (time < late_before_ && rule_.is_missed(time)) [[unlikely]]
            return emit.late(record);
        emit(record);
    }

    void on(Watermark watermark, auto& /*emit*/) noexcept { passed_ = watermark.time; }

  private:
    [[no_unique_address]] operators::AgreedTime<TimeOf> time_of_;
    [[no_unique_address]] Rule rule_;
    EventTime passed_ = EventTime::earliest();       // by all that is active
    EventTime late_before_ = EventTime::earliest();  // of the batch at hand
};

}  // namespace strid::window
