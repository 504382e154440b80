// SPDX-License-Identifier: Apache-2.0
//
// Functions by key with timers: each key has its own copy of the function. It gets the records of
// the key, and sets timers in event time or by the machine's clock. Use it where no window fits:
// alarms for missing records, or your own kind of session.
//
// O(log timers) for each timer. A timer that is set twice is called once.
//
// Threads: only the task of the node. Invariant of each key: a timer that is pending has the item
// of its number in the heap; an item whose timer is not pending is passed over.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/base/time.hpp>
#include <strid/operator/callable.hpp>

namespace strid {

namespace window {
template <class T, class KeyOf, class K, class F, class U>
class KeyedProcess;
}

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
        if (!ended_) event_.add(pending_->event, time, key_);
    }
    /// Sets a timer: `on_timer(time, ...)` is called when the clock reaches this time, unless the
    /// stream ends before.
    void at(ProcessingTime time) { processing_.add(pending_->processing, time, key_); }
    /// Forgets a timer of this time; nothing happens where there is none.
    void cancel(EventTime time) { forget(pending_->event, time); }
    /// The same for the clock.
    void cancel(ProcessingTime time) { forget(pending_->processing, time); }
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
    struct OfAnOperator {};
    explicit Timers(OfAnOperator) noexcept {}
    /// A function that takes a copy would set its timers in vain.
    Timers(const Timers&) = default;

    /// A timer of a key that is pending, and the number of its item in the queue.
    template <class Time>
    struct Timer {
        Time time;
        std::uint64_t number;
    };
    template <class Time>
    static void forget(std::vector<Timer<Time>>& pending, Time time) {
        std::erase_if(pending, [time](const Timer<Time>& timer) { return timer.time == time; });
    }

    /// The timers of all keys by their time.
    template <class Time>
    class Queue {
      public:
        void add(std::vector<Timer<Time>>& pending, Time time, void* key) {
            const auto is_set = [time](const Timer<Time>& timer) { return timer.time == time; };
            if (std::any_of(pending.begin(), pending.end(), is_set)) return;
            pending.push_back({time, ++last_});
            heap_.push_back({time, last_, key});
            std::push_heap(heap_.begin(), heap_.end(), later);
        }
        /// The timers of a key came from elsewhere. Call restored() behind the last.
        void restore(const std::vector<Timer<Time>>& pending, void* key) {
            for (const Timer<Time>& timer : pending) {
                heap_.push_back({timer.time, timer.number, key});
                last_ = std::max(last_, timer.number);
            }
        }
        void restored() { std::make_heap(heap_.begin(), heap_.end(), later); }
        [[nodiscard]] bool is_due(Time now) const noexcept {
            return !heap_.empty() && heap_.front().time <= now;
        }
        [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
        [[nodiscard]] Time first() const noexcept { return heap_.front().time; }
        /// A timer of a key.
        struct Item {
            Time time;             ///< When it is due.
            std::uint64_t number;  ///< Its place among the timers that were set.
            void* key;             ///< The entry of its key.
        };
        Item pop() {
            const Item first = heap_.front();
            std::pop_heap(heap_.begin(), heap_.end(), later);
            heap_.pop_back();
            return first;
        }

      private:
        static bool later(const Item& a, const Item& b) noexcept {
            return a.time != b.time ? a.time > b.time : a.number > b.number;
        }

        std::vector<Item> heap_;
        std::uint64_t last_ = 0;  // number of an item
    };
    struct Pending {
        std::vector<Timer<EventTime>> event;
        std::vector<Timer<ProcessingTime>> processing;
    };

    Queue<EventTime> event_;
    Queue<ProcessingTime> processing_;
    EventTime watermark_ = EventTime::earliest();
    Pending* pending_ = nullptr;  // of the key at hand
    void* key_ = nullptr;
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
