// SPDX-License-Identifier: Apache-2.0
//
// The collector behind replicas that share the windows of a stream (papers 1 and 2: ordered
// collection): results go on in the order in which one replica would have given them.
//
// Threads: only the task of the node, which has one replica.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/base/hash.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/keyed_state.hpp>
#include <strid/window/spec.hpp>

namespace strid::window {

/// Windows of time in the order of their ends, windows of the same end as they came. A result waits
/// until the watermark shows that no replica has an earlier one; one that comes again for late
/// records passes at once. O(log results waiting) each.
template <class Result>
class OrderedByTime : public OperatorTypes<Result, Result> {
  public:
    static constexpr OperatorTraits traits{.kind = "collector",
                                           .emits = Emits::any_number,
                                           .hears = events<Watermark, Ended>,
                                           .needs_watermarks = true,
                                           .one_replica = true};

    auto state() { return std::tie(waiting_, came_, watermark_); }

    void process(Result& result, auto& emit) {
        if (result.window.end <= watermark_) {
            emit(result);
            return;
        }
        waiting_.push_back({came_++, std::move(result)});
        std::push_heap(waiting_.begin(), waiting_.end(), later);
    }

    bool on(Watermark watermark, auto& emit) {
        if (!release(watermark.time, emit)) return false;
        watermark_ = watermark.time;
        return true;
    }
    bool on(Ended, auto& emit) { return release(EventTime::latest(), emit); }

  private:
    struct Waiting {
        std::uint64_t came;
        Result result;
    };
    static bool later(const Waiting& a, const Waiting& b) noexcept {
        if (a.result.window.end != b.result.window.end) {
            return a.result.window.end > b.result.window.end;
        }
        return a.came > b.came;
    }

    bool release(EventTime watermark, auto& emit) {
        while (!waiting_.empty() && waiting_.front().result.window.end <= watermark) {
            if (!emit.room()) return false;
            std::pop_heap(waiting_.begin(), waiting_.end(), later);
            Result result = std::move(waiting_.back().result);
            waiting_.pop_back();
            emit(result);
        }
        return true;
    }

    std::vector<Waiting> waiting_;  // a heap: the next to go on stands first
    std::uint64_t came_ = 0;
    EventTime watermark_ = EventTime::earliest();
};

/// The result in what a replica gives: that itself, or the value of a ValueOrEnd.
template <class Given>
struct ResultIn {
    using type = Given;
};
template <class Given>
    requires requires(const Given& given) { given.start; }
struct ResultIn<Given> {
    using type = typename decltype(Given::value)::value_type;
};

/// Windows of counts in the order of their positions, for each key: each window of a key comes
/// exactly once, as a result or as ValueOrEnds, so it waits for the one before it. O(log what waits
/// of the key) each.
template <class Arrived, class K>
class OrderedByCount : public OperatorTypes<Arrived, typename ResultIn<Arrived>::type> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "collector", .emits = Emits::any_number, .hears = events<>, .one_replica = true};

    explicit OrderedByCount(std::uint64_t slide) : slide_(slide) {}
    auto state() {
        return std::tuple_cat(std::make_tuple(operators::states_by_key(table_)), std::tie(came_));
    }

    void process(Arrived& arrived, auto& emit) {
        auto& key =
            table_.find_or_make(arrived.key, hash_of(arrived.key), [] { return KeyState{}; }).state;
        if (start_of(arrived) != key.next) {
            key.waiting.push_back({came_++, std::move(arrived)});
            std::push_heap(key.waiting.begin(), key.waiting.end(), later);
            return;
        }
        pass(key, arrived, emit);
        while (!key.waiting.empty() && start_of(key.waiting.front().arrived) == key.next) {
            std::pop_heap(key.waiting.begin(), key.waiting.end(), later);
            Arrived following = std::move(key.waiting.back().arrived);
            key.waiting.pop_back();
            pass(key, following, emit);
        }
    }

  private:
    struct Waiting {
        std::uint64_t came;
        Arrived arrived;
    };
    struct KeyState {
        std::uint64_t next = 0;        // where the window begins that is next
        std::vector<Waiting> waiting;  // a heap: the earliest stands first
    };
    static constexpr bool has_ends = requires(const Arrived& arrived) { arrived.start; };

    static std::uint64_t start_of(const Arrived& arrived) noexcept {
        if constexpr (has_ends) {
            return arrived.start;
        } else {
            return arrived.window.start;
        }
    }
    static bool later(const Waiting& a, const Waiting& b) noexcept {
        const std::uint64_t start_a = start_of(a.arrived);
        const std::uint64_t start_b = start_of(b.arrived);
        return start_a != start_b ? start_a > start_b : a.came > b.came;
    }
    void pass(KeyState& key, Arrived& arrived, auto& emit) {
        if constexpr (has_ends) {
            if (arrived.value) {
                emit(*arrived.value);
                return;
            }
        } else {
            emit(arrived);
        }
        key.next += slide_;
    }

    std::uint64_t came_ = 0;
    std::uint64_t slide_;
    KeyedState<K, KeyState, KeyLife{.in_slices = true}> table_;
};

}  // namespace strid::window
