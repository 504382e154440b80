// SPDX-License-Identifier: Apache-2.0
//
// Where a stream learns its time: an operator that lets every record through, looks at when it
// happened, and says how far the stream has come by the user's strategy.
//
// What it says goes with the next batch. A record that breaks the promise that stands when it comes
// is late, whatever the timing of the run: before it goes on, every operator behind is told of the
// promise it broke. Of streams whose source says its time: operator/source_time.hpp.
//
// Threads: only the task of the node.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/message/watermark.hpp>
#include <strid/operator/contract.hpp>

namespace strid {

/// Says when a record happened: a member or a function that gives an EventTime.
template <class F, class T>
concept TimeFunction = std::copy_constructible<F> && std::invocable<const F&, const T&> &&
                       std::convertible_to<std::invoke_result_t<const F&, const T&>, EventTime>;

namespace operators {

/// The strategy is told how long no record has come (InSilence).
template <class Strategy>
inline constexpr bool sees_silence = requires(Strategy& strategy, const Strategy& asked) {
    strategy.silent_for(Duration{});
    { asked.next_silence(Duration{}) } -> std::same_as<Duration>;
};

template <class T, class TimeOf, class Strategy>
class EventTimeOperator : public OperatorTypes<T, T> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "event_time", .watermarks = Watermarks::drawn, .passes_records = true};

    /// A stream without records for `idle_after` does not hold others back; 0: it always does.
    /// Throws GraphError where that is negative.
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
            emit.promise({said(), false});
        strategy_.observe(std::as_const(record), time);
        // What goes back and recovers within a batch would not be seen behind it.
        if constexpr (!never_goes_back<Strategy>) (void)said();
        came_ = true;
        emit(record);
    }

    /// What its watermarks speak of.
    [[nodiscard]] const TimeOf& draws_from() const noexcept { return time_of_; }

    [[nodiscard]] Progress on(Clock clock) {
        if (came_ || last_ns_ == 0) last_ns_ = clock.now_ns;
        came_ = false;
        if constexpr (sees_silence<Strategy>) {
            asked_ns_ = clock.now_ns;
            strategy_.silent_for(Duration{clock.now_ns - last_ns_});
        }
        idle_ = idle_after_ != 0 && clock.now_ns - last_ns_ >= idle_after_;
        return {said(), idle_};
    }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept {
        const std::int64_t idle_ns = idle_after_ == 0 || idle_ ? 0 : last_ns_ + idle_after_;
        if constexpr (sees_silence<Strategy>) {
            const Duration silence = strategy_.next_silence(Duration{asked_ns_ - last_ns_});
            if (silence != Duration::zero()) {
                return runtime::earlier_wake(idle_ns, last_ns_ + silence.count());
            }
        }
        return idle_ns;
    }
    auto state() { return std::tie(strategy_, said_); }

  private:
    /// What is said now. Throws WatermarkError where the strategy takes back what it said before.
    EventTime said() {
        const EventTime watermark = strategy_.watermark();
        if (watermark < said_) throw WatermarkError(watermark, said_);
        said_ = watermark;
        return watermark;
    }

    [[no_unique_address]] TimeOf time_of_;
    Strategy strategy_;
    EventTime said_ = EventTime::earliest();
    std::int64_t idle_after_;
    std::int64_t last_ns_ = 0;  // when a record came last, as far as runs can tell
    std::int64_t asked_ns_ = 0;
    bool came_ = false;  // one came in this run
    bool idle_ = false;
};

}  // namespace operators
}  // namespace strid
