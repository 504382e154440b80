// SPDX-License-Identifier: Apache-2.0
//
// The operator of functions by key with timers whose keys may be in a store (window/timers.hpp,
// operator/stored_keys.hpp). The functions are in a table of which a part is in the store; the
// timers that are pending are in a table of their own, because the queues of timers point to them.
//
// Threads: only the task of the node. Invariant: each key with a pending timer has a slot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include <strid/base/time.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/engine/window/operators/keyed_process.hpp>
#include <strid/engine/window/structures/timer_queue.hpp>
#include <strid/operator/callable.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/keyed_state.hpp>
#include <strid/operator/stored_keys.hpp>
#include <strid/window/timers.hpp>

namespace strid::window {

/// The timers of the keys that have some, as a part of a state: its keys are those of another part.
template <class Part>
class WithoutKeys : public Part {
  public:
    explicit WithoutKeys(Part part) : Part(std::move(part)) {}
    /// None, for the report.
    [[nodiscard]] std::size_t keys() const noexcept { return 0; }
};

/// The operator of `process` behind `key_by(key, keep_in_memory(...))`.
template <class T, class KeyOf, class K, class F, class U>
class StoredProcess : public OperatorTypes<message::Hashed<T>, U> {
    template <class Time>
    static constexpr bool has_timers = operators::HearsTimers<F, Time, U>;
    static constexpr bool asks_the_clock = has_timers<ProcessingTime>;

  public:
    static constexpr OperatorTraits traits{
        .kind = "process",
        .emits = Emits::any_number,
        .hears = events<Opened, Restored, Coming<message::Hashed<T>>, BatchEnds, SnapshotBegins,
                        Watermark, Ended>,
        .has = Has::facts | has_if(asks_the_clock, Has::wake_at_ns),
        .needs_watermarks = has_timers<EventTime>,
        .only_reads = true,
        .may_skip = true};

    StoredProcess(F function, KeyOf key_of, const StoredKeys& life)
        : prototype_(std::move(function)), key_of_(std::move(key_of)), functions_(life) {}

    void on(const Opened& opened) {
        name_ = opened.context.name;
        operators::notify_function(prototype_, opened);
        functions_.open(opened.context, fresh());
    }
    auto state() {
        auto timers = operators::states_by_key(slots_, no_timers());
        return std::tuple_cat(functions_.state(fresh()),
                              std::make_tuple(WithoutKeys<decltype(timers)>(std::move(timers))),
                              std::tie(timers_.watermark_));
    }
    void on(Restored) {
        functions_.table().for_each_in_memory([](Entry& entry) { entry.state.slot = nullptr; });
        slots_.tables_bytes = 0;
        slots_.for_each([this](Slot& slot) {
            slot.state.pending.key = &slot;
            slots_.tables_bytes += slot.state.pending.bytes();
            timers_.event_.restore(slot.state.pending);
            timers_.processing_.restore(slot.state.pending);
        });
        timers_.event_.restored();
        timers_.processing_.restored();
        count_queues();
    }
    [[nodiscard]] std::size_t on(Coming<message::Hashed<T>> coming) {
        return functions_.read_ahead(coming.records, key_of_);
    }
    void on(BatchEnds) { functions_.make_room(); }
    [[nodiscard]] const ColdStores& cold_stores() const noexcept {
        return functions_.cold_stores();
    }
    void on(SnapshotBegins snapshot) { functions_.begin_snapshot(snapshot.number); }
    [[nodiscard]] static OperatorFacts facts() { return {.notes = {Functions::note}}; }

    void process(const message::Hashed<T>& arrived, auto& emit) {
        const T& record = arrived.record;
        Entry& entry = function_of(std::invoke(key_of_, record), arrived.hash);
        call(entry, emit, [&](Emitter<U>& take) { entry.state.function(record, timers_, take); });
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
    /// The timers of a key that has some, which stay in memory.
    struct Pending {
        void clear() {}  // those of a key that is taken out are gone
        auto state() { return std::tie(pending); }
        PendingTimers pending;
    };
    [[nodiscard]] static auto no_timers() {
        return [] { return Pending{}; };
    }
    struct Slots
        : KeyedState<K, Pending,
                     KeyLife{
                         .expires = true, .clears = true, .shows_keys = false, .in_slices = true}> {
        [[nodiscard]] std::size_t bytes() const noexcept {
            return Slots::KeyedState::bytes() + tables_bytes + queues_bytes;
        }
        std::size_t tables_bytes = 0;
        std::size_t queues_bytes = 0;
    };
    using Slot = typename Slots::Entry;
    struct KeyState {
        auto state() { return std::tie(function); }
        F function;
        Slot* slot = nullptr;  // null: it is not known whether there is one
    };
    using Functions = operators::LivingKeys<K, KeyState, StoredKeys, false>;
    using Entry = typename Functions::Entry;

    [[nodiscard]] auto fresh() {
        return [this] { return KeyState{prototype_}; };
    }
    Entry& function_of(const K& key, std::uint64_t hash) {
        return functions_.find_or_make(key, hash, fresh(), [](const auto&, auto&) {});
    }
    Slot& slot_of(Entry& entry) {
        Slot*& slot = entry.state.slot;
        if (slot == nullptr) {
            slot = &slots_.find_or_make(entry.key, entry.hash, no_timers());
            slot->state.pending.key = slot;
        }
        return *slot;
    }
    void count_queues() noexcept {
        slots_.queues_bytes = timers_.event_.bytes() + timers_.processing_.bytes();
    }
    /// Counts the memory that the timers of a key take in the meantime.
    class Measured {
      public:
        Measured(StoredProcess& process, const PendingTimers& of)
            : process_(process), of_(of), before_(of.bytes()) {}
        Measured(const Measured&) = delete;
        Measured& operator=(const Measured&) = delete;
        ~Measured() {
            process_.slots_.tables_bytes += of_.bytes() - before_;
            process_.count_queues();
        }

      private:
        StoredProcess& process_;
        const PendingTimers& of_;
        std::size_t before_;
    };

    template <class Call>
    void call(Entry& entry, auto& emit, const Call& user) {
        Slot& slot = slot_of(entry);
        slots_.change(slot);
        PendingTimers& pending = slot.state.pending;
        {
            const Measured measured{*this, pending};
            timers_.pending_ = &pending;
            timers_.forgets_ = false;
            auto take = [&emit](U emitted) { emit(emitted); };
            Emitter<U> emitter{take};
            user(emitter);
            if (timers_.forgets_) {
                timers_.event_.forget(pending);
                timers_.processing_.forget(pending);
            }
        }
        if (pending.event.size() + pending.processing.size() == 0) {
            entry.state.slot = nullptr;
            slots_.expire(slot);
        }
        if (timers_.forgets_) functions_.table().expire(entry);
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
        Slot& slot = *static_cast<Slot*>(queue.first_key().key);
        const Time time = queue.first();
        slots_.change(slot);
        {
            const Measured measured{*this, slot.state.pending};
            if (!queue.pop()) return;  // cancelled, or its key was forgotten
        }
        constexpr std::uint64_t at_once = 64;
        if (++fired_ % at_once == 0) functions_.make_room();
        if constexpr (has_timers<Time>) {
            Entry& entry = function_of(slot.key, slot.hash);
            // There is no record that could be left out.
            operators::guarded(name_, [&] {
                call(entry, emit,
                     [&](Emitter<U>& take) { entry.state.function.on_timer(time, timers_, take); });
            });
        }
    }

    F prototype_;
    [[no_unique_address]] KeyOf key_of_;
    Functions functions_;
    Slots slots_;  // of the keys with timers
    Timers timers_{Timers::OfAnOperator{}};
    std::uint64_t fired_ = 0;
    std::string name_;
};

}  // namespace strid::window
