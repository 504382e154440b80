// SPDX-License-Identifier: Apache-2.0
//
// The common part of the joins of two streams: how the records of both travel in one stream, and
// the pairs that they form.
//
// Threads: plain values.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/base/time.hpp>
#include <strid/engine/window/joins/pair_calls.hpp>
#include <strid/window/aggregates/content.hpp>
#include <strid/window/join_options.hpp>

namespace strid::window {

/// The records of a join travel in one stream.
template <class L, class R>
using EitherSide = std::variant<L, R>;

namespace detail {

template <class Result, class LeftOf, class L>
struct SideResult {
    using type = Result;
};
template <class LeftOf, class L>
struct SideResult<void, LeftOf, L> {
    using type = std::remove_cvref_t<std::invoke_result_t<const LeftOf&, const L&>>;
};

}  // namespace detail

/// A function of either: `left` of a left record, `right` of a right one, as a `Result`; void: as
/// the value that `left` returns.
template <class LeftOf, class RightOf, class Result>
struct OfEitherSide {
    LeftOf left;
    RightOf right;

    template <class L, class R>
    auto operator()(const EitherSide<L, R>& record) const ->
        typename detail::SideResult<Result, LeftOf, L>::type {
        using Value = typename detail::SideResult<Result, LeftOf, L>::type;
        if (record.index() == 0) return Value(std::invoke(left, *std::get_if<0>(&record)));
        return Value(std::invoke(right, *std::get_if<1>(&record)));
    }
};

/// The key of either.
template <class LeftKey, class RightKey>
using EitherKey = OfEitherSide<LeftKey, RightKey, void>;
/// The time of either.
template <class LeftTime, class RightTime>
using EitherTime = OfEitherSide<LeftTime, RightTime, EventTime>;

/// All pairs of the records of a window, and in an outer join those without a partner.
template <class L, class R, class F>
struct PairsOfAWindow {
    F combine;
    JoinKind kind;

    template <class K, class Bounds, class Emit>
    void operator()(const K&, const Bounds&, std::span<const EitherSide<L, R>> records,
                    Emit& emit) const {
        const auto count = [records](std::size_t side) {
            return std::count_if(records.begin(), records.end(),
                                 [side](const auto& one) { return one.index() == side; });
        };
        const bool has_left = count(0) != 0;
        const bool has_right = count(1) != 0;
        for (const auto& one : records) {
            const auto* const left = std::get_if<0>(&one);
            if (left == nullptr) {
                if (!has_left && kind == JoinKind::full)
                    emit_pair(nullptr, std::get_if<1>(&one), emit);
                continue;
            }
            if (!has_right && kind != JoinKind::inner) emit_pair(left, nullptr, emit);
            for (const auto& other : records) {
                if (const auto* const right = std::get_if<1>(&other)) emit_pair(left, right, emit);
            }
        }
    }

    /// The same of one record with the others of its window: the pairs that are new when it has
    /// come late.
    template <class Records, class Emit>
    void of_one(const EitherSide<L, R>& record, const Records& records, Emit& emit) const {
        const auto* const left = std::get_if<0>(&record);
        const auto* const right = std::get_if<1>(&record);
        bool met = false;
        for (const auto& other : records) {
            if (other.index() == record.index()) continue;
            met = true;
            if (left != nullptr) {
                emit_pair(left, std::get_if<1>(&other), emit);
            } else {
                emit_pair(std::get_if<0>(&other), right, emit);
            }
        }
        const bool emits_alone =
            kind == JoinKind::full || (kind == JoinKind::left && left != nullptr);
        if (!met && emits_alone) emit_pair(left, right, emit);
    }

  private:
    template <class Emit>
    void emit_pair(const L* left, const R* right, Emit& emit) const {
        if constexpr (takes_pointers<F, L, R>) {
            emit(combine(left, right));
        } else {
            emit(combine(*left, *right));
        }
    }
};

/// The same as a function of windows.
template <class L, class R, class F>
using EveryPairOfAWindow = decltype(process<EitherSide<L, R>, typename PairResult<F, L, R>::type>(
    std::declval<PairsOfAWindow<L, R, F>>()));

/// That function, of which a window that fires again gives what is new.
template <class L, class R, class F>
class WindowJoin : public EveryPairOfAWindow<L, R, F> {
    using Base = EveryPairOfAWindow<L, R, F>;

  public:
    WindowJoin(F combine, JoinKind kind)
        : Base(process<EitherSide<L, R>, typename Base::Value>(
              PairsOfAWindow<L, R, F>{std::move(combine), kind})) {}

    template <class Take>
    void give_new(const EitherSide<L, R>& late, const typename Base::State& records,
                  const Take& take) const {
        this->function.of_one(late, records, take);
    }
};

}  // namespace strid::window
