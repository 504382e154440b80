// SPDX-License-Identifier: Apache-2.0
//
// The as-of join of two streams by key: a left record of time t is joined with the latest right
// record of its key whose time is at or before t, within a tolerance: the record that was valid at
// t. Of right records of equal time one counts: the last that came, or the one of the greatest
// `tie_of`.
//
// A left record is answered, once, when the watermark has passed its time: no better right record
// can come then. The left records of a key are answered in the order of their times, equal ones as
// they came. With lateness each answer is that much later. A record is late if it lies behind the
// watermark of its own stream by more than the lateness, or if the joint watermark passed it while
// its own stream was idle. A late record is counted and not joined; with `late_apart` it is emitted
// as it is.
//
// A key keeps the waiting left records, and the right records that these or later ones may need:
// those after the watermark, and the newest one before it. The watermark frees the rest. With a
// tolerance the newest one is freed when it is too old for later records, and then the key; without
// one, each key keeps one right record until the end of the run. Kept records outlive their
// batches: a record with text fields must own its text.
//
// A record is O(log n) in the records that its key keeps; records in order are O(1) to insert.
//
// Threads: only the task of the node. Invariant of each key: left records rise by time, right ones
// strictly.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/base/time.hpp>
#include <strid/engine/base/assert.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/agreed_time.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/engine/window/joins/pairs.hpp>
#include <strid/engine/window/structures/deadlines.hpp>
#include <strid/engine/window/structures/flat_ring.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/keyed_state.hpp>
#include <strid/window/pair_function.hpp>
#include <strid/window/result.hpp>

namespace strid {

namespace window {

/// The result for a left record and its partner, which is there unless the function takes null.
template <class F, class L, class R>
decltype(auto) as_of_pair(const F& function, const L& left, const R* right) {
    if constexpr (needs_both<F, L, R>) {
        STRID_ASSERT(right != nullptr);
        return std::invoke(function, left, *right);
    } else if constexpr (std::invocable<const F&, const L&, const R*>) {
        return std::invoke(function, left, right);
    } else {
        return std::invoke(function, &left, right);
    }
}

template <class F, class L, class R>
using AsOfResult = std::remove_cvref_t<decltype(as_of_pair(
    std::declval<const F&>(), std::declval<const L&>(), std::declval<const R*>()))>;

/// Of equal times the greatest `TieOf` counts, of these the last that came.
template <class L, class R, class KeyOf, class LeftTime, class RightTime, class TieOf,
          AsOfFunction<L, R> F>
class KeyedAsOfJoin : public OperatorTypes<message::Hashed<EitherSide<L, R>>, AsOfResult<F, L, R>> {
  public:
    using Either = EitherSide<L, R>;
    using K = std::remove_cvref_t<std::invoke_result_t<const KeyOf&, const Either&>>;
    using Result = AsOfResult<F, L, R>;
    static constexpr OperatorTraits traits{
        .kind = "join",
        .emits = Emits::any_number,
        .hears = events<Restored, BatchBegins, Coming<message::Hashed<Either>>, Watermark, Ended>,
        .has = Has::time_of,
        .needs_watermarks = true,
        .finds_late = true};

    KeyedAsOfJoin(KeyOf key_of, LeftTime left_time, RightTime right_time, TieOf tie_of, F combine,
                  const AsOfOptions& options)
        : key_of_(std::move(key_of)),
          time_of_({std::move(left_time), std::move(right_time)}),
          tie_of_(std::move(tie_of)),
          combine_(std::move(combine)),
          tolerance_(options.tolerance),
          matches_equal_(options.matches_equal),
          emits_alone_(options.kind != JoinKind::inner),
          lateness_(options.lateness),
          at_end_(options.at_end) {}

    /// For the engine (engine/operator/agreed_time.hpp).
    auto& time_of() noexcept { return time_of_; }
    auto state() {
        return std::tuple_cat(std::make_tuple(operators::states_by_key(keys_)), std::tie(passed_));
    }

    void on(Restored) {
        deadlines_.restore(keys_);
        expiries_.restore(keys_);
    }
    void on(const BatchBegins& batch) noexcept {
        late_before_ = std::max(batch.watermark - lateness_, passed_);
    }
    [[nodiscard]] std::size_t on(Coming<message::Hashed<Either>> coming) {
        return keys_.look_ahead(coming.records, [](const KeyState& state) {
            state.left.prefetch();
            state.right.prefetch();
        });
    }

    void process(message::Hashed<Either>& arrived, auto& emit) {
        const EventTime time = time_of_(arrived.record);
        if (time < late_before_) [[unlikely]]
            return late(arrived.record, emit);
        Entry& key =
            keys_.find_or_make(key_of_(arrived.record), arrived.hash, [] { return KeyState{}; });
        if (auto* const left = std::get_if<0>(&arrived.record)) {
            FlatRing<Kept<L>>& waiting = key.state.left;
            waiting.insert(first_from(waiting, time + Duration{1}), {time, std::move(*left)});
        } else {
            keep(key.state.right, time, *std::get_if<1>(&arrived.record));
        }
        await(key);
    }

    bool on(Watermark watermark, auto& emit) {
        // At the end of time more records may come: those wait for the end of the streams.
        const EventTime passed =
            std::min(watermark.time - lateness_, EventTime::latest() - Duration{1});
        if (!answer_up_to(passed, emit)) return false;
        expire_up_to(passed);
        passed_ = passed;
        return true;
    }
    bool on(Ended, auto& emit) {
        if (at_end_ == OpenWindows::drop) return true;
        return answer_up_to(EventTime::latest(), emit);
    }

  private:
    template <class T>
    struct Kept {
        EventTime time;
        T record{};
    };
    struct KeyState {
        void clear() {
            left.clear();
            right.clear();
            deadline = expiry = {};
        }
        FlatRing<Kept<L>> left;
        FlatRing<Kept<R>> right;
        Deadline deadline;  // of a left record, or of right ones that may go
        Deadline expiry;    // of the last right one
    };
    struct Expiry {
        static Deadline& of(KeyState& state) noexcept { return state.expiry; }
    };
    using Keys =
        KeyedState<K, KeyState,
                   KeyLife{
                       .expires = true, .clears = true, .shows_keys = false, .in_slices = true}>;
    using Entry = typename Keys::Entry;

    static void late(const Either& record, auto& emit) {
        if (const auto* const left = std::get_if<0>(&record)) {
            emit.template late<0>(*left);
        } else {
            emit.template late<1>(*std::get_if<1>(&record));
        }
    }

    /// The first position of a record that is not before `time`; looked for from the end.
    template <class Kept>
    static std::uint64_t first_from(const FlatRing<Kept>& ring, EventTime time) {
        if (!ring.empty() && ring.back().time < time) return ring.end_position();
        return ring.partition_point([time](const Kept& kept) { return kept.time < time; });
    }

    void keep(FlatRing<Kept<R>>& rights, EventTime time, R& record) {
        const auto at = first_from(rights, time);
        if (at == rights.end_position() || rights[at].time != time) {
            rights.insert(at, {time, std::move(record)});
            return;
        }
        R& before = rights[at].record;
        const bool comes_before = std::invoke(tie_of_, std::as_const(record)) <
                                  std::invoke(tie_of_, std::as_const(before));
        if (!comes_before) before = std::move(record);
    }

    /// Whether the order of two times is that of a pair.
    [[nodiscard]] bool is_as_of(EventTime right, EventTime left) const noexcept {
        return right < left || (right == left && matches_equal_);
    }
    [[nodiscard]] bool is_near(EventTime right, EventTime left) const noexcept {
        return !tolerance_ || right + *tolerance_ >= left;
    }
    /// Leaves the one that a left record of this time, or of a later one, may meet, and those after
    /// it.
    void drop_before(FlatRing<Kept<R>>& rights, EventTime time) const {
        while (rights.size() > 1 && is_as_of(rights[rights.begin_position() + 1].time, time)) {
            rights.pop_front();
        }
    }
    /// Frees the right records that no left record after the watermark can need. At the end none
    /// comes.
    void drop_unneeded(FlatRing<Kept<R>>& rights, EventTime watermark) const {
        if (watermark == EventTime::latest()) return rights.clear();
        drop_before(rights, watermark);
        if (!rights.empty() && !is_near(rights.front().time, watermark)) rights.pop_front();
    }

    /// Looks at the key again when a left record is due or something may be let go: of several
    /// right records all but one at once, so that the key is not looked at for each of them. The
    /// tolerance may be long: its end has a heap of its own, in which a key is once, because every
    /// time that is put forward leaves an item in the heap until then.
    void await(Entry& key) {
        const KeyState& state = key.state;
        if (!state.left.empty()) deadlines_.await(key, state.left.front().time + Duration{1});
        if (state.right.empty()) return;
        const EventTime newest = state.right.back().time;
        if (state.right.size() > 1) deadlines_.await(key, newest + Duration{1});
        if (tolerance_) expiries_.await(key, newest + *tolerance_ + Duration{1});
    }
    /// A key that has been looked at.
    void await_or_expire(Entry& key) {
        if (!key.state.left.empty() || !key.state.right.empty()) return await(key);
        key.state.clear();  // no item in a heap is its any more
        keys_.expire(key);
    }

    bool answer_up_to(EventTime watermark, auto& emit) {
        while (deadlines_.is_due(watermark)) {
            if (!emit.room()) return false;
            Entry* const key = deadlines_.pop(keys_);
            if (key == nullptr) continue;
            const bool done = answer(key->state, watermark, emit);
            if (done) drop_unneeded(key->state.right, watermark);
            await_or_expire(*key);
            if (!done) return false;
        }
        return true;
    }
    void expire_up_to(EventTime watermark) {
        while (expiries_.is_due(watermark)) {
            Entry* const key = expiries_.pop(keys_);
            if (key == nullptr) continue;
            drop_unneeded(key->state.right, watermark);
            await_or_expire(*key);
        }
    }

    /// Answers the left records of one key that are due, each with its partner.
    bool answer(KeyState& state, EventTime watermark, auto& emit) {
        auto& waiting = state.left;
        auto& rights = state.right;
        while (!waiting.empty() && waiting.front().time + Duration{1} <= watermark) {
            const Kept<L>& left = waiting.front();
            drop_before(rights, left.time);
            const bool meets = !rights.empty() && is_as_of(rights.front().time, left.time) &&
                               is_near(rights.front().time, left.time);
            if (meets || emits_alone_) {
                if (!emit.room()) return false;
                give(emit, left.record, meets ? &rights.front().record : nullptr);
            }
            waiting.pop_front();
        }
        return true;
    }

    void give(auto& emit, const L& left, const R* right) {
        Result result = as_of_pair(combine_, left, right);
        emit(result);
    }

    [[no_unique_address]] KeyOf key_of_;
    [[no_unique_address]] operators::AgreedTime<EitherTime<LeftTime, RightTime>> time_of_;
    [[no_unique_address]] TieOf tie_of_;
    [[no_unique_address]] F combine_;
    std::optional<Duration> tolerance_;
    bool matches_equal_;
    bool emits_alone_;
    Duration lateness_;
    OpenWindows at_end_;
    EventTime passed_ = EventTime::earliest();       // by all that is active, and the lateness
    EventTime late_before_ = EventTime::earliest();  // of the batch at hand
    Keys keys_;
    Deadlines<Entry> deadlines_;
    Deadlines<Entry, Expiry> expiries_;
};

}  // namespace window
}  // namespace strid
