// SPDX-License-Identifier: Apache-2.0
//
// The operator of functions by key with timers (window/timers.hpp).
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include <strid/base/time.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/checks.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/engine/window/structures/timer_queue.hpp>
#include <strid/operator/callable.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/keyed_state.hpp>
#include <strid/window/timers.hpp>

namespace strid {

namespace operators {

template <class F, class Time, class U>
concept HearsTimers =
    requires(F& f, Time time, Timers& timers, Emitter<U>& emit) { f.on_timer(time, timers, emit); };

/// A function that takes Timers has an `on_timer` for them, or says that it sets none.
template <class F, class U>
consteval bool has_right_timers() {
    constexpr bool hears = HearsTimers<F, EventTime, U> || HearsTimers<F, ProcessingTime, U>;
    constexpr bool right = hears || traits_of_function<F>.sets_no_timers;
    static_assert(right,
                  "a function F that takes Timers has a public void on_timer(EventTime, Timers&, "
                  "auto& emit), or the same of a ProcessingTime; one that sets no timers says so: "
                  "FunctionTraits{.sets_no_timers = true}, or is given to flat_map");
    return right;
}

/// As operators/checks.hpp.
template <class F, class T, class U>
consteval bool takes_process() {
    if constexpr (!std::copy_constructible<F>) {
        return can_be_copied<F>();
    } else if constexpr (!ProcessFunction<F, T, U>) {
        static_assert(ProcessFunction<F, T, U>,
                      "process<U> needs a function F of the records T that arrive: void f(const "
                      "T&, Timers&, auto& emit), which calls emit(U)");
        return false;
    } else {
        if constexpr (!keeps_contract<F, const T&, Timers&, Emitter<U>&>()) {
            return false;
        } else {
            return has_right_timers<F, U>();
        }
    }
}

}  // namespace operators

namespace window {

template <class T, class KeyOf, class K, class F, class U>
class KeyedProcess : public OperatorTypes<message::Hashed<T>, U> {
    template <class Time>
    static constexpr bool has_timers = operators::HearsTimers<F, Time, U>;

  public:
    static constexpr bool asks_the_clock = has_timers<ProcessingTime>;
    static constexpr OperatorTraits traits{.kind = "process",
                                           .emits = Emits::any_number,
                                           .hears = events<Opened, Restored, Watermark, Ended>,
                                           .has = has_if(asks_the_clock, Has::wake_at_ns),
                                           .needs_watermarks = has_timers<EventTime>,
                                           .only_reads = true,
                                           .may_skip = true};

    KeyedProcess(F function, KeyOf key_of)
        : prototype_(std::move(function)), key_of_(std::move(key_of)) {}

    void on(const Opened& opened) {
        name_ = opened.context.name;
        operators::notify_function(prototype_, opened);
    }
    auto state() {
        return std::tuple_cat(std::make_tuple(operators::states_by_key(keys_, fresh())),
                              std::tie(timers_.watermark_));
    }

    void on(Restored) {
        keys_.tables_bytes = 0;
        keys_.for_each([this](Entry& key) {
            key.state.pending.key = &key;
            keys_.tables_bytes += key.state.pending.bytes();
            timers_.event_.restore(key.state.pending);
            timers_.processing_.restore(key.state.pending);
        });
        timers_.event_.restored();
        timers_.processing_.restored();
        keys_.queues_bytes = timers_.event_.bytes() + timers_.processing_.bytes();
    }

    void process(const message::Hashed<T>& arrived, auto& emit) {
        const T& record = arrived.record;
        Entry& key = keys_.find_or_make(std::invoke(key_of_, record), arrived.hash, fresh());
        key.state.pending.key = &key;
        {
            const Measured measured{*this, key.state.pending};
            call(key, emit, [&](Emitter<U>& take) { key.state.function(record, timers_, take); });
        }
        // A timer for what has been is not kept waiting for the watermark to move on.
        while (timers_.event_.is_due(timers_.watermark_)) fire_first(timers_.event_, emit);
    }

    bool on(Watermark watermark, auto& emit) {
        if (!fire_event_timers(watermark.time, emit)) return false;
        if constexpr (asks_the_clock) {
            if (timers_.processing_.empty()) return true;
            const ProcessingTime now = Timers::now();
            while (timers_.processing_.is_due(now)) {
                if (!emit.room()) return false;
                fire_first(timers_.processing_, emit);
            }
        }
        return true;
    }
    bool on(Ended, auto& emit) {
        timers_.ended_ = true;
        return fire_event_timers(EventTime::latest(), emit);
    }

    /// When the clock is to be looked at; 0: never.
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept
        requires(asks_the_clock)
    {
        return timers_.processing_.empty() ? 0 : timers_.processing_.first().ns();
    }

  private:
    struct KeyState {
        /// The key is forgotten and another one begins.
        void clear(KeyState&& fresh) {
            std::destroy_at(&function);
            std::construct_at(&function, std::move(fresh.function));
        }
        F function;
        PendingTimers pending;  // an expired key has none
    };
    [[nodiscard]] auto fresh() {
        return [this] { return KeyState{prototype_, {}}; };
    }
    /// The keys, and the memory of their timers.
    struct Keys
        : KeyedState<K, KeyState,
                     KeyLife{
                         .expires = true, .clears = true, .shows_keys = false, .in_slices = true}> {
        [[nodiscard]] std::size_t bytes() const noexcept {
            return Keys::KeyedState::bytes() + tables_bytes + queues_bytes;
        }
        std::size_t tables_bytes = 0;
        std::size_t queues_bytes = 0;
    };
    using Entry = typename Keys::Entry;

    /// Counts the memory that the timers of a key take in the meantime.
    class Measured {
      public:
        Measured(KeyedProcess& process, const PendingTimers& of)
            : process_(process), of_(of), before_(of.bytes()) {}
        Measured(const Measured&) = delete;
        Measured& operator=(const Measured&) = delete;
        ~Measured() {
            process_.keys_.tables_bytes += of_.bytes() - before_;
            process_.keys_.queues_bytes =
                process_.timers_.event_.bytes() + process_.timers_.processing_.bytes();
        }

      private:
        KeyedProcess& process_;
        const PendingTimers& of_;
        std::size_t before_;
    };

    template <class Call>
    void call(Entry& key, auto& emit, const Call& user) {
        timers_.pending_ = &key.state.pending;
        timers_.forgets_ = false;
        auto take = [&emit](U emitted) { emit(emitted); };
        Emitter<U> emitter{take};
        user(emitter);
        if (!timers_.forgets_) return;
        timers_.event_.forget(key.state.pending);
        timers_.processing_.forget(key.state.pending);
        keys_.expire(key);
    }

    bool fire_event_timers(EventTime watermark, auto& emit) {
        timers_.watermark_ = std::max(timers_.watermark_, watermark);
        while (timers_.event_.is_due(watermark)) {
            if (!emit.room()) return false;
            fire_first(timers_.event_, emit);
        }
        return true;
    }

    template <class Time>
    void fire_first(TimerQueue<Time>& queue, auto& emit) {
        PendingTimers& pending = queue.first_key();
        const Measured measured{*this, pending};
        const Time time = queue.first();
        Entry& key = *static_cast<Entry*>(pending.key);
        keys_.change(key);
        if (!queue.pop()) return;  // cancelled, or its key was forgotten
        if constexpr (has_timers<Time>) {
            // There is no record that could be left out.
            operators::guarded(name_, [&] {
                call(key, emit,
                     [&](Emitter<U>& take) { key.state.function.on_timer(time, timers_, take); });
            });
        }
    }

    F prototype_;
    [[no_unique_address]] KeyOf key_of_;
    Keys keys_;
    Timers timers_{Timers::OfAnOperator{}};
    std::string name_;
};

}  // namespace window

}  // namespace strid
