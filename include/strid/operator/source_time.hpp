// SPDX-License-Identifier: Apache-2.0
//
// The time of a source that knows how far it has come, as the reader of a log does that keeps a
// watermark of its own: `event_time(time_of, SourceTime{})`. The source says it with
// `emit.watermark(time)`, and `emit.idle()` where nothing is known for the time being
// (operator/source.hpp); until it says something, time stands still.
//
// Threads: only the task of the node.
#pragma once

#include <functional>
#include <tuple>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>
#include <strid/message/watermark.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/event_time.hpp>

namespace strid {

/// A watermark strategy (message/watermark.hpp) that says nothing of its own.
class SourceTime {
  public:
    /// Does nothing: the time of records says nothing here.
    template <class T>
    void observe(const T&, EventTime) noexcept {}
    /// The earliest time; what the source says moves it.
    [[nodiscard]] EventTime watermark() const noexcept { return EventTime::earliest(); }
};

namespace operators {

/// The source says how far the stream has come; the operator passes it on.
template <class T, class TimeOf>
class EventTimeOperator<T, TimeOf, SourceTime> : public OperatorTypes<T, T> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "event_time", .watermarks = Watermarks::relayed, .passes_records = true};

    /// Throws Error where `idle_after` is not 0.
    EventTimeOperator(TimeOf time_of, SourceTime, Duration idle_after)
        : time_of_(std::move(time_of)) {
        if (idle_after != Duration::zero()) {
            throw Error("a source that says its time says itself when it is idle: emit.idle()");
        }
    }

    [[gnu::always_inline]] void process(T& record, auto& emit) {
        const EventTime time = std::invoke(time_of_, std::as_const(record));
        if (time < said_) [[unlikely]]
            emit.promise({said_, false});
        emit(record);
    }

    void on(SourceSaid source) noexcept { said_ = source.progress.watermark; }
    void on(Watermark watermark, auto& /*emit*/) noexcept { said_ = watermark.time; }
    auto state() { return std::tie(said_); }

  private:
    [[no_unique_address]] TimeOf time_of_;
    EventTime said_ = EventTime::earliest();
};

}  // namespace operators
}  // namespace strid
