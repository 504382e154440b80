// SPDX-License-Identifier: Apache-2.0
//
// `event_time`: an operator that gives a stream its time. It passes every record on, reads its
// event time, and derives the watermark by the user's strategy.
//
// The watermark goes with the next batch. A record below the watermark at its arrival is late,
// whatever the timing of the run: before it is passed on, every operator behind gets the watermark
// that it is below. At the end of the stream it asks the strategy for the last watermark. For
// streams whose source reports its time see operator/source_time.hpp.
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/base/watermark.hpp>
#include <strid/engine/runtime/wake.hpp>
#include <strid/operator/contract.hpp>

namespace strid {

/// Gives the event time of a record: a member or a function that returns an EventTime.
template <class F, class T>
concept TimeFunction = std::copy_constructible<F> && std::invocable<const F&, const T&> &&
                       std::convertible_to<std::invoke_result_t<const F&, const T&>, EventTime>;

namespace operators {

/// The strategy needs to know how long no record has come (InSilence).
template <class Strategy>
inline constexpr bool sees_silence = requires(Strategy& strategy, const Strategy& asked) {
    strategy.silent_for(Duration{});
    { asked.next_silence(Duration{}) } -> std::same_as<Duration>;
};

/// The strategy has a last watermark of its own.
template <class Strategy>
inline constexpr bool learns_of_the_end = requires(Strategy& strategy) { strategy.ended(); };

template <class T, class TimeOf, class Strategy>
class EventTimeOperator : public OperatorTypes<T, T> {
  public:
    static constexpr OperatorTraits traits{.kind = "event_time",
                                           .hears = events<Clock, Ended>,
                                           .has = Has::draws_from | Has::wake_at_ns,
                                           .passes_records = true};

    /// A stream without records for `idle_after` becomes idle and holds no others back; 0: never.
    /// Throws GraphError if it is negative.
    EventTimeOperator(TimeOf time_of, Strategy strategy, Duration idle_after)
        : time_of_(std::move(time_of)),
          strategy_(std::move(strategy)),
          idle_after_(idle_after.count()) {
        if (idle_after_ < 0) {
            throw GraphError("the time after which a stream is idle must not be negative");
        }
    }

    [[gnu::always_inline]] void process(T& record, auto& emit) {
        const EventTime time = std::invoke(time_of_, std::as_const(record));
        if (time < strategy_.watermark()) [[unlikely]]
            emit.assert_progress({watermark(), false});
        strategy_.observe(std::as_const(record), time);
        // A time that goes back and recovers within a batch would not be seen after the batch.
        if constexpr (!never_goes_back<Strategy>) (void)watermark();
        came_ = true;
        emit(record);
    }

    /// The time function of its watermarks.
    [[nodiscard]] const TimeOf& draws_from() const noexcept { return time_of_; }

    [[nodiscard]] Progress on(Clock clock) {
        if (came_ || last_ns_ == 0) last_ns_ = clock.now_ns;
        came_ = false;
        is_silent_ = clock.silent_until_ns == clock.now_ns;
        silence_ns_ = std::max<std::int64_t>(clock.silent_until_ns - last_ns_, 0);
        if constexpr (sees_silence<Strategy>) strategy_.silent_for(Duration{silence_ns_});
        idle_ = idle_after_ != 0 && clock.now_ns - last_ns_ >= idle_after_;
        return {watermark(), idle_};
    }
    void on(Ended, auto&) {
        if constexpr (learns_of_the_end<Strategy>) strategy_.ended();
    }
    /// Where records wait, the source of the node says when to look again.
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept {
        const std::int64_t idle_ns = idle_after_ == 0 || idle_ ? 0 : last_ns_ + idle_after_;
        if constexpr (sees_silence<Strategy>) {
            if (!is_silent_) return idle_ns;
            const Duration silence = strategy_.next_silence(Duration{silence_ns_});
            if (silence != Duration::zero()) {
                return runtime::earlier_wake(idle_ns, last_ns_ + silence.count());
            }
        }
        return idle_ns;
    }
    auto state() { return std::tie(strategy_, asserted_, last_ns_); }
    void merge_state(const EventTimeOperator& other)
        requires MergesState<Strategy>
    {
        strategy_.merge_state(other.strategy_);
        asserted_ = std::min(asserted_, other.asserted_);
        last_ns_ = std::max(last_ns_, other.last_ns_);
    }
    void split_state(StateShare share)
        requires MergesState<Strategy>
    {
        strategy_.split_state(share);
    }

  private:
    /// The present watermark. Throws WatermarkError if the strategy goes back.
    EventTime watermark() {
        const EventTime watermark = strategy_.watermark();
        if (watermark < asserted_) throw WatermarkError(watermark, asserted_);
        asserted_ = watermark;
        return watermark;
    }

    [[no_unique_address]] TimeOf time_of_;
    Strategy strategy_;
    EventTime asserted_ = EventTime::earliest();
    std::int64_t idle_after_;
    std::int64_t last_ns_ = 0;  // when the last record came, to the accuracy of runs
    std::int64_t silence_ns_ = 0;
    bool came_ = false;  // a record came in this run
    bool is_silent_ = false;
    bool idle_ = false;
};

}  // namespace operators
}  // namespace strid
