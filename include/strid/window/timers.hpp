// SPDX-License-Identifier: Apache-2.0
//
// Functions by key with timers: each key has its own copy of the function. It gets the records of
// the key, and sets timers in event time or by the machine's clock. Use it where no window fits:
// alarms for missing records, or your own kind of session.
//
// O(log timers) for each timer, and 40 bytes while it is pending (twice that at most, in a vector
// that has just grown). A timer that is set twice is called once.
//
// Threads: only the task of the node.
#pragma once

#include <concepts>

#include <strid/base/clock.hpp>
#include <strid/base/time.hpp>
#include <strid/engine/window/structures/timer_queue.hpp>
#include <strid/operator/callable.hpp>

namespace strid {

namespace window {
template <class T, class KeyOf, class K, class F, class U>
class KeyedProcess;
template <class T, class KeyOf, class K, class F, class U>
class StoredProcess;  // window/stored_process.hpp
}  // namespace window

/// The timers of the present key, for a function with timers. Use it during the call only.
class Timers {
  public:
    /// Does not compile: the engine makes the timers of a function. A test drives the function by a
    /// strid::test::Harness (test/harness.hpp).
    template <class Made = Timers>
    Timers() {
        static_assert(!std::same_as<Made, Timers>,
                      "the engine makes the Timers of a function: a test of the function has a "
                      "strid::test::Harness (strid/test/harness.hpp)");
    }
    /// Sets a timer: `on_timer(time, ...)` is called when the watermark reaches this time, right
    /// after the present call if it already has, and at the end of the stream at the latest. A
    /// timer that is set at the end of the stream is ignored, because a function that always sets
    /// the next one would never end.
    void at(EventTime time) {
        if (!ended_) event_.add(*pending_, time);
    }
    /// Sets a timer: `on_timer(time, ...)` is called when the clock reaches this time, unless the
    /// stream ends before.
    void at(ProcessingTime time) { processing_.add(*pending_, time); }
    /// Forgets a timer of this time, and frees its memory; nothing happens where there is none.
    void cancel(EventTime time) { event_.cancel(*pending_, time); }
    /// The same for the clock.
    void cancel(ProcessingTime time) { processing_.cancel(*pending_, time); }
    /// Forgets the key after the present call, with its function and its timers.
    void forget_key() noexcept { forgets_ = true; }

    /// The watermark.
    [[nodiscard]] EventTime watermark() const noexcept { return watermark_; }
    /// The machine's clock; about 20 ns.
    [[nodiscard]] static ProcessingTime now() noexcept {
        return ProcessingTime::of_ns(operator_clock_ns());
    }

  private:
    template <class T, class KeyOf, class K, class F, class U>
    friend class window::KeyedProcess;
    template <class T, class KeyOf, class K, class F, class U>
    friend class window::StoredProcess;
    struct OfAnOperator {};
    explicit Timers(OfAnOperator) noexcept {}
    /// A function that takes a copy would set its timers in vain.
    Timers(const Timers&) = default;

    window::TimerQueue<EventTime> event_;
    window::TimerQueue<ProcessingTime> processing_;
    EventTime watermark_ = EventTime::earliest();
    window::PendingTimers* pending_ = nullptr;  // of the key at hand
    bool forgets_ = false;
    bool ended_ = false;  // the stream; what is pending fires now
};

/// Its hook on(const Opened&) is called for the function that the copies are made of. Called as
/// `f(record, timers, emit)` with each record, where `emit(U)` takes what comes out, and
/// as `f.on_timer(time, timers, emit)` with an EventTime or a ProcessingTime for which it asked.
template <class F, class T, class U>
concept ProcessFunction =
    std::copy_constructible<F> &&
    requires(F& f, const T& record, Timers& timers, Emitter<U>& emit) { f(record, timers, emit); };

/// A ProcessFunction of two types: called as `f(const L&, timers, emit)` and as
/// `f(const R&, timers, emit)`.
template <class F, class L, class R, class U>
concept ConnectFunction = ProcessFunction<F, L, U> && ProcessFunction<F, R, U>;

}  // namespace strid
