// SPDX-License-Identifier: Apache-2.0
//
// The time of a source that has its own watermarks, such as the reader of a log with watermarks:
// `event_time(time_of, SourceTime{})`. The source calls `emit.watermark(time)`, and `emit.idle()`
// when it has no watermark for now (operator/source.hpp). There is no watermark before its first
// call.
//
// Threads: only the task of the node.
#pragma once

#include <functional>
#include <tuple>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>
#include <strid/base/watermark.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/event_time.hpp>

namespace strid {

/// A watermark strategy (base/watermark.hpp) without watermarks of its own.
class SourceTime {
  public:
    /// Does nothing: the time of records says nothing here.
    template <class T>
    void observe(const T&, EventTime) noexcept {}
    /// The earliest time; the source's own watermarks raise it.
    [[nodiscard]] EventTime watermark() const noexcept { return EventTime::earliest(); }
};

namespace operators {

/// The source has the watermark of the stream; the operator passes it on.
template <class T, class TimeOf>
class EventTimeOperator<T, TimeOf, SourceTime> : public OperatorTypes<T, T> {
  public:
    static constexpr OperatorTraits traits{.kind = "event_time",
                                           .hears = events<SourceProgress, Watermark>,
                                           .has = Has::draws_from,
                                           .passes_records = true};

    /// Throws Error if `idle_after` is not 0.
    EventTimeOperator(TimeOf time_of, SourceTime, Duration idle_after)
        : time_of_(std::move(time_of)) {
        if (idle_after != Duration::zero()) {
            throw Error(
                "idle_after needs a strategy other than SourceTime: the source calls emit.idle()");
        }
    }

    [[gnu::always_inline]] void process(T& record, auto& emit) {
        const EventTime time = std::invoke(time_of_, std::as_const(record));
        if (time < asserted_) [[unlikely]]
            emit.assert_progress({asserted_, false});
        emit(record);
    }

    /// The time function of the records that the source's watermarks are about.
    [[nodiscard]] const TimeOf& draws_from() const noexcept { return time_of_; }

    void on(SourceProgress source) noexcept { asserted_ = source.progress.watermark; }
    void on(Watermark watermark, auto& /*emit*/) noexcept { asserted_ = watermark.time; }
    auto state() { return std::tie(asserted_); }

  private:
    [[no_unique_address]] TimeOf time_of_;
    EventTime asserted_ = EventTime::earliest();
};

}  // namespace operators
}  // namespace strid
