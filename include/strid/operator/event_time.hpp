// SPDX-License-Identifier: Apache-2.0
//
// Where a stream learns its time: a stage that lets every record through, looks at when it
// happened, and says how far the stream has come by the user's strategy.
//
// What it says goes with the next batch. A record that breaks the promise that stands when it comes
// is late, whatever the timing of the run: before it goes on, everybody behind is told of the
// promise it broke.
//
// Threads: only the task of the node.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/message/watermark.hpp>
#include <strid/operator/stage.hpp>

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

template <class TimeOf, class Strategy>
class EventTimeStage {
  public:
    static constexpr bool selective = false;
    static constexpr bool passes_records = true;

    /// A stream without records for `idle_after` does not hold others back; 0: it always does.
    /// Throws GraphError where that is negative.
    EventTimeStage(TimeOf time_of, Strategy strategy, Duration idle_after)
        : time_of_(std::move(time_of)),
          strategy_(std::move(strategy)),
          idle_after_(idle_after.count()) {
        if (idle_after_ < 0) {
            throw GraphError("the time after which a stream is idle must not be negative");
        }
    }

    template <class Arrived, class Next>
    [[gnu::always_inline]] void operator()(Arrived& arrived, Next&& next) {
        auto& record = record_of(arrived);
        const EventTime time = std::invoke(time_of_, std::as_const(record));
        if (time < strategy_.watermark()) [[unlikely]]
            next.promise({said(), false});
        strategy_.observe(std::as_const(record), time);
        // What goes back and recovers within a batch would not be seen behind it.
        if constexpr (!never_goes_back<Strategy>) (void)said();
        came_ = true;
        next(record);
    }

    /// What its watermarks speak of.
    [[nodiscard]] const TimeOf& draws_from() const noexcept { return time_of_; }

    [[nodiscard]] Progress progress(std::int64_t now_ns) {
        if (came_ || last_ns_ == 0) last_ns_ = now_ns;
        came_ = false;
        if constexpr (sees_silence<Strategy>) {
            asked_ns_ = now_ns;
            strategy_.silent_for(Duration{now_ns - last_ns_});
        }
        idle_ = idle_after_ != 0 && now_ns - last_ns_ >= idle_after_;
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

/// The source says how far the stream has come; the stage passes it on.
template <class TimeOf>
class EventTimeStage<TimeOf, SourceTime> {
  public:
    static constexpr bool selective = false;
    static constexpr bool passes_records = true;

    /// Throws Error where `idle_after` is not 0.
    EventTimeStage(TimeOf time_of, SourceTime, Duration idle_after) : time_of_(std::move(time_of)) {
        if (idle_after != Duration::zero()) {
            throw Error("a source that says its time says itself when it is idle: emit.idle()");
        }
    }

    template <class Arrived, class Next>
    [[gnu::always_inline]] void operator()(Arrived& arrived, Next&& next) {
        auto& record = record_of(arrived);
        const EventTime time = std::invoke(time_of_, std::as_const(record));
        if (time < said_) [[unlikely]]
            next.promise({said_, false});
        next(record);
    }

    /// The source of this chain has just said so.
    void told(const Progress& progress) noexcept { said_ = progress.watermark; }
    void heed(const Progress& progress) noexcept { said_ = progress.watermark; }

  private:
    [[no_unique_address]] TimeOf time_of_;
    EventTime said_ = EventTime::earliest();
};

}  // namespace operators
}  // namespace strid
