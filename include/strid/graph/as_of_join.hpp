// SPDX-License-Identifier: Apache-2.0
//
// The as-of join of two streams by key: what was valid on the right when the left record happened.
//
// Threads: as Stream.
#pragma once

#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>
#include <strid/graph/alternatives.hpp>
#include <strid/graph/join.hpp>
#include <strid/graph/keyed_stream.hpp>
#include <strid/operator/time_order.hpp>
#include <strid/window/joins/keyed_as_of_join.hpp>
#include <strid/window/joins/pairs.hpp>

namespace strid {

namespace graph {

template <class L, class R, class F>
void check_as_of(const AsOfOptions& options) {
    if (options.kind == JoinKind::full) {
        throw GraphError("an as-of join is inner or left: a right record waits for no partner");
    }
    if (options.kind == JoinKind::left && window::needs_both<F, L, R>) {
        throw GraphError(
            "a left as-of join needs a function of a pointer to the right record: it may be null");
    }
    if (options.lateness < Duration::zero()) {
        throw GraphError("the lateness of a join must not be negative");
    }
    if (options.tolerance && *options.tolerance < Duration::zero()) {
        throw GraphError("the tolerance of an as-of join must not be negative");
    }
}

template <class KeyOf, class TimeOf>
TiedSide<KeyOf, TimeOf, operators::AsTheyCame> tied(JoinSide<KeyOf, TimeOf> side) {
    return {std::move(side.key_of), std::move(side.time_of), {}};
}
template <class KeyOf, class TimeOf, class TieOf>
TiedSide<KeyOf, TimeOf, TieOf> tied(TiedSide<KeyOf, TimeOf, TieOf> side) {
    return side;
}

/// An as-of join, of which `finished(operator)` is applied.
template <class Left, class Right, class LeftKey, class LeftTime, class RightKey, class RightTime,
          class TieOf, class F, class Finished>
auto as_of(Left&& left, Right&& right, JoinSide<LeftKey, LeftTime> left_side,
           TiedSide<RightKey, RightTime, TieOf> right_side, F combine, const AsOfOptions& options,
           const Finished& finished) {
    using L = typename Left::record_type;
    using R = typename Right::record_type;
    using KeyOf = window::EitherKey<LeftKey, RightKey>;
    using Join = window::KeyedAsOfJoin<L, R, KeyOf, LeftTime, RightTime, TieOf, F>;
    check_as_of<L, R, F>(options);
    KeyOf key_of{std::move(left_side.key_of), std::move(right_side.key_of)};
    return both_sides<window::EitherSide<L, R>>(std::forward<Left>(left),
                                                std::forward<Right>(right), key_of,
                                                JoinOptions{.name = options.name})
        .apply(finished(Join{std::move(key_of), std::move(left_side.time_of),
                             std::move(right_side.time_of), std::move(right_side.tie_of),
                             std::move(combine), options}),
               {.name = options.name, .parallelism = options.parallelism});
}

}  // namespace graph

/// The as-of join of two streams by key: each left record with the latest right record of the same
/// key whose time is at or before its own. Both streams need `event_time`: a left record waits
/// until both watermarks have passed its time, so that right records may come in disorder.
///
///     as_of(std::move(trades), std::move(quotes), on(&Trade::symbol, &Trade::time),
///           on(&Quote::symbol, &Quote::time),
///           [](const Trade& trade, const Quote& quote) { return Priced{trade.price, quote.bid}; },
///           {.tolerance = 1s})
///
/// `combine` is a function of both records; or `U f(const L&, const R*)`, which a left join calls
/// with a null pointer for a left record that meets none. Of right records of equal key and time
/// the last that came counts, or where `on` is given a third function the one for which this is
/// greatest: behind several sources or replicas, which came last depends on the run.
///
/// Out come the left records' results, by key in the order of the left records' times, equal ones
/// as they came. Without lateness none is behind the watermark: windows that go by the left
/// record's time take all of them. With lateness they may lie behind by as much.
///
/// Records are kept longer than the batches they came with: those with text fields must own it
/// (std::array<char, N>, std::string). Each key keeps the right records that may still be met: with
/// a tolerance for so long, without one the newest for ever. Records that are late by more than the
/// options' lateness are counted and not joined.
///
/// Throws GraphError for streams of two graphs, for a negative tolerance or lateness, for a full
/// join, or for a left join whose function cannot be told that the right record is missing.
template <class Left, class Right, class LeftKey, class LeftTime, class RightSide, class F>
    requires AsOfFunction<F, typename Left::record_type, typename Right::record_type>
auto as_of(Left&& left, Right&& right, JoinSide<LeftKey, LeftTime> left_side, RightSide right_side,
           F combine, AsOfOptions options = {}) {
    return graph::as_of(std::forward<Left>(left), std::forward<Right>(right), std::move(left_side),
                        graph::tied(std::move(right_side)), std::move(combine), options,
                        [](auto join) { return join; });
}

/// The same with the late records of either side as streams of their own:
/// `auto [priced, late_trades, late_quotes] = as_of(..., late_apart)`.
template <class Left, class Right, class LeftKey, class LeftTime, class RightSide, class F,
          class L = typename Left::record_type, class R = typename Right::record_type>
    requires AsOfFunction<F, L, R>
JoinStreams<window::AsOfResult<F, L, R>, L, R> as_of(Left&& left, Right&& right,
                                                     JoinSide<LeftKey, LeftTime> left_side,
                                                     RightSide right_side, F combine, LateApart,
                                                     AsOfOptions options = {}) {
    using U = window::AsOfResult<F, L, R>;
    auto [pairs, late_left, late_right] = graph::alternatives<U, L, R>(
        graph::as_of(std::forward<Left>(left), std::forward<Right>(right), std::move(left_side),
                     graph::tied(std::move(right_side)), std::move(combine), options,
                     [](auto join) { return graph::with_late<L, R>(std::move(join)); }),
        options.name, {"pairs", "late-left", "late-right"});
    return {std::move(pairs), std::move(late_left), std::move(late_right)};
}

}  // namespace strid
