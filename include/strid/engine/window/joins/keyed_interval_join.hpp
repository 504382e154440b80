// SPDX-License-Identifier: Apache-2.0
//
// The interval join of two streams by key: a left record of time t is joined with every right
// record of its key whose time lies between t + lower and t + upper, each bound included or not.
// The second record of a pair finds the first, so every pair comes out once, as soon as both are
// there.
//
// Each side keeps its records by time until the watermark shows that no partner can come any more.
// Then an outer join emits a record without a partner alone. An inner join frees expired records
// later, when the key is looked up next or its last record has expired. A record behind the
// watermark of its own stream is late. So is a record behind the joint watermark, which passed it
// while its own stream was idle. A late record is counted and not joined, because its partners may
// be gone; with `late_apart` it is emitted as it is. With lateness all records are kept that much
// longer, and only records further behind are late. Kept records outlive their batches: a record
// with text fields must own its text.
//
// A record is O(log n) in the records that its key keeps, plus the pairs that come out; records in
// order are O(1) to insert. Keys without records are let go.
//
// Threads: only the task of the node. Invariant of each key: each side's records rise by time.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/base/error.hpp>
#include <strid/base/hash.hpp>
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

template <class L, class R, class KeyOf, class LeftTime, class RightTime, PairFunction<L, R> F>
class KeyedIntervalJoin
    : public OperatorTypes<message::Hashed<EitherSide<L, R>>, typename PairResult<F, L, R>::type> {
  public:
    using Either = EitherSide<L, R>;
    using K = std::remove_cvref_t<std::invoke_result_t<const KeyOf&, const Either&>>;
    using Result = typename PairResult<F, L, R>::type;
    static constexpr OperatorTraits traits{
        .kind = "join",
        .emits = Emits::any_number,
        .hears = events<Opened, Restored, BatchBegins, Coming<message::Hashed<Either>>, Watermark,
                        Ended>,
        .has = Has::facts | Has::time_of,
        .needs_watermarks = true,
        .finds_late = true};

    /// Throws Error for an interval that no time lies in.
    KeyedIntervalJoin(JoinInterval interval, KeyOf key_of, LeftTime left_time, RightTime right_time,
                      F combine, const JoinOptions& options)
        : key_of_(std::move(key_of)),
          time_of_({std::move(left_time), std::move(right_time)}),
          combine_(std::move(combine)),
          lower_(in_range(interval.lower.offset) + (interval.lower.inclusive ? 0 : 1)),
          upper_(in_range(interval.upper.offset) - (interval.upper.inclusive ? 0 : 1)),
          kind_(options.kind),
          lateness_(options.lateness),
          at_end_(options.at_end) {
        if (lower_ > upper_) throw Error("an interval join needs an interval that is not empty");
    }

    /// The replicas have every record, and each joins the left records whose times name it: the
    /// interval of a left record is its window, and the windows are shared. Not for full joins,
    /// where no replica alone knows which right records have no partner. Late records have been
    /// taken out before (engine/window/operators/late_filter.hpp): the replicas might not agree
    /// which these are.
    void farm() noexcept { farmed_ = true; }
    [[nodiscard]] OperatorFacts facts() const { return {.shares_broadcast = farmed_}; }
    /// For the engine (engine/operator/agreed_time.hpp).
    auto& time_of() noexcept { return time_of_; }
    auto state() {
        return std::tuple_cat(std::make_tuple(operators::states_by_key(keys_)), std::tie(passed_));
    }

    void on(const Opened& opened) noexcept {
        if (!farmed_) return;
        replica_ = opened.context.replica;
        replicas_ = opened.context.parallelism;
    }
    void on(Restored) { deadlines_.restore(keys_); }
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
        const auto* const left = std::get_if<0>(&arrived.record);
        const auto* const right = std::get_if<1>(&arrived.record);
        const EventTime time = time_of_(arrived.record);
        if (replicas_ != 1 && left != nullptr && !is_mine(time)) return;
        if (time < late_before_) [[unlikely]] {
            STRID_ASSERT(!farmed_);
            return left != nullptr ? emit.template late<0>(*left) : emit.template late<1>(*right);
        }
        Entry& key =
            keys_.find_or_make(key_of_(arrived.record), arrived.hash, [] { return KeyState{}; });
        if (left != nullptr) {
            meet(key, key.state.left, key.state.right, time, *left, lower_, upper_,
                 [&](const L& l, const R& r) { pair(emit, &l, &r); });
        } else {
            meet(key, key.state.right, key.state.left, time, *right, -upper_, -lower_,
                 [&](const R& r, const L& l) { pair(emit, &l, &r); });
        }
    }

    bool on(Watermark watermark, auto& emit) {
        // At the end of time a record may still be joined with records that seem to have expired:
        // expiries stay there.
        const EventTime passed =
            std::min(watermark.time - lateness_, EventTime::latest() - Duration{1});
        if (!expire_up_to(passed, emit)) return false;
        passed_ = passed;
        return true;
    }
    bool on(Ended, auto& emit) {
        if (at_end_ == OpenWindows::drop) return true;
        return expire_up_to(EventTime::latest(), emit);
    }

  private:
    /// An offset that can be negated and moved by one: a century and a half stands for ever.
    static std::int64_t in_range(Duration offset) noexcept {
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;
        return std::clamp(offset.count(), -most, most);
    }

    /// Which replica joins a left record: times that follow each other at equal distances, too, are
    /// spread over all.
    [[nodiscard]] bool is_mine(EventTime time) const noexcept {
        return hash_of(time.ns()) % replicas_ == replica_;
    }

    template <class T>
    struct Kept {
        EventTime time;
        T record{};
        bool met = false;
        auto state() { return std::tie(time, record, met); }
    };
    struct KeptLeft : Kept<L> {};
    struct KeptRight : Kept<R> {};
    struct KeyState {
        void clear() {
            left.clear();
            right.clear();
            deadline = {};
        }
        FlatRing<KeptLeft> left;
        FlatRing<KeptRight> right;
        Deadline deadline;
    };
    using Keys =
        KeyedState<K, KeyState,
                   KeyLife{
                       .expires = true, .clears = true, .shows_keys = false, .in_slices = true}>;
    using Entry = typename Keys::Entry;

    void pair(auto& emit, const L* left, const R* right) {
        if constexpr (takes_pointers<F, L, R>) {
            Result result = std::invoke(combine_, left, right);
            emit(result);
        } else {
            Result result = std::invoke(combine_, *left, *right);
            emit(result);
        }
    }

    /// A record is joined with those of the other side from `time + lower` to `time + upper`, and
    /// is kept for those that come later.
    template <class Own, class Other, class T, class Pair>
    void meet(Entry& key, FlatRing<Own>& own, FlatRing<Other>& others, EventTime time,
              const T& record, std::int64_t lower, std::int64_t upper, Pair&& pair) {
        const EventTime last = time + Duration{upper};
        bool met = false;
        if (kind_ == JoinKind::inner) {
            drop_unneeded(others, -lower);
            drop_unneeded(own, upper);
        }
        for (auto at = first_from(others, time + Duration{lower});
             at != others.end_position() && others[at].time <= last; ++at) {
            others[at].met = met = true;
            pair(record, others[at].record);
        }
        own.insert(first_from(own, time + Duration{1}), Own{{time, record, met}});
        deadlines_.await(key, last + Duration{1});
    }

    /// The first position of a record that is not before `time`; looked for from the end. Inlined:
    /// a call costs a record 15 instructions, and whether GCC inlines it depends on other
    /// functions.
    template <class Kept>
    [[gnu::always_inline]] static std::uint64_t first_from(const FlatRing<Kept>& ring,
                                                           EventTime time) {
        if (!ring.empty() && ring.back().time < time) return ring.end_position();
        return ring.partition_point([time](const Kept& kept) { return kept.time < time; });
    }

    bool expire_up_to(EventTime watermark, auto& emit) {
        while (deadlines_.is_due(watermark)) {
            if (!emit.room()) return false;
            Entry* const key = deadlines_.pop(keys_);
            if (key == nullptr) continue;
            KeyState& state = key->state;
            const bool left_done =
                expire(state.left, upper_, watermark, kind_ != JoinKind::inner, emit);
            const bool right_done =
                left_done && expire(state.right, -lower_, watermark, kind_ == JoinKind::full, emit);
            if (state.left.empty() && state.right.empty()) {
                keys_.expire(*key);
                continue;
            }
            // An inner join emits no record alone, so it does not visit the key for each of them:
            // later records of the key free what has expired.
            deadlines_.await(
                *key,
                kind_ == JoinKind::inner
                    ? std::max(last_expiry(state.left, upper_), last_expiry(state.right, -lower_))
                    : std::min(expiry(state.left, upper_), expiry(state.right, -lower_)));
            if (!right_done) return false;
        }
        return true;
    }

    /// The time from which the oldest record of a side can have no partner any more.
    template <class Kept>
    static EventTime expiry(const FlatRing<Kept>& ring, std::int64_t upper) {
        if (ring.empty()) return EventTime::latest();
        return ring.front().time + Duration{upper} + Duration{1};
    }

    /// When all of a side can.
    template <class Kept>
    static EventTime last_expiry(const FlatRing<Kept>& ring, std::int64_t upper) {
        if (ring.empty()) return EventTime::earliest();
        return ring.back().time + Duration{upper} + Duration{1};
    }

    template <class Kept>
    void drop_unneeded(FlatRing<Kept>& ring, std::int64_t upper) {
        while (!ring.empty() && expiry(ring, upper) <= passed_) ring.pop_front();
    }

    void alone(auto& emit, const KeptLeft& kept) {
        if constexpr (takes_pointers<F, L, R>) pair(emit, &kept.record, nullptr);
    }
    void alone(auto& emit, const KeptRight& kept) {
        if constexpr (takes_pointers<F, L, R>) pair(emit, nullptr, &kept.record);
    }

    template <class Kept>
    bool expire(FlatRing<Kept>& ring, std::int64_t upper, EventTime watermark, bool emits_alone,
                auto& emit) {
        while (!ring.empty() && expiry(ring, upper) <= watermark) {
            if (emits_alone && !ring.front().met) {
                if (!emit.room()) return false;
                alone(emit, ring.front());
            }
            ring.pop_front();
        }
        return true;
    }

    [[no_unique_address]] KeyOf key_of_;
    [[no_unique_address]] operators::AgreedTime<EitherTime<LeftTime, RightTime>> time_of_;
    [[no_unique_address]] F combine_;
    std::int64_t lower_;  // inclusive
    std::int64_t upper_;  // inclusive
    JoinKind kind_;
    Duration lateness_;
    OpenWindows at_end_;
    bool farmed_ = false;
    std::size_t replica_ = 0;
    std::size_t replicas_ = 1;                       // that share the left records
    EventTime passed_ = EventTime::earliest();       // by all that is active, and the lateness
    EventTime late_before_ = EventTime::earliest();  // of the batch at hand
    Keys keys_;
    Deadlines<Entry> deadlines_;
};

}  // namespace window
}  // namespace strid
