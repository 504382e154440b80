// SPDX-License-Identifier: Apache-2.0
//
// Joins of two streams, of the same type or of two, partitioned by key; for keys of which one has
// most of the records: graph/parallel_join.hpp.
//
// Threads: as Stream.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/base/error.hpp>
#include <strid/base/text_fields.hpp>
#include <strid/graph/keyed_stream.hpp>
#include <strid/graph/shared_work.hpp>
#include <strid/window/aggregates/content.hpp>
#include <strid/window/joins/keyed_interval_join.hpp>
#include <strid/window/joins/pairs.hpp>

namespace strid {

/// What a join gives with its late records: all have to be consumed.
template <class Pair, class L, class R>
struct JoinStreams {
    Stream<Pair> pairs;
    Stream<L> late_left;
    Stream<R> late_right;
};

namespace graph {

/// One side of a join as records of either.
template <class Either, std::size_t side, class Upstream>
auto as_either(Upstream&& upstream, const JoinOptions& options, const char* which) {
    static_assert(!std::is_lvalue_reference_v<Upstream>,
                  "a join consumes its streams: pass them with std::move");
    using T = typename Upstream::record_type;
    check_owns_text<T>();
    return SharedWork::side_of<Either, side>(
        std::move(upstream),
        [](T&& record) {
            return Either{std::in_place_index<side>, std::move(record)};
        },
        {.name = options.name.empty() ? "" : options.name + "-" + which});
}

/// Two streams as one of either's records, by key.
template <class Either, class Left, class Right, class KeyOf>
auto both_sides(Left&& left, Right&& right, const KeyOf& key_of, const JoinOptions& options) {
    auto lefts = as_either<Either, 0>(std::forward<Left>(left), options, "left").key_by(key_of);
    auto rights = as_either<Either, 1>(std::forward<Right>(right), options, "right").key_by(key_of);
    return std::move(lefts).merge(std::move(rights));
}

template <class L, class R, class F>
void check_join(const JoinOptions& options) {
    if (options.kind != JoinKind::inner && !std::invocable<const F&, const L*, const R*>) {
        throw GraphError("an outer join needs a function of two pointers: one may be null");
    }
    if (options.lateness < Duration::zero()) {
        throw GraphError("the lateness of a join must not be negative");
    }
}

inline WindowOptions of_windows(const JoinOptions& options) {
    return {.name = options.name,
            .parallelism = options.parallelism,
            .lateness = options.lateness,
            .at_end = options.at_end,
            .late_by = options.late_by};
}

/// The late records of both sides as a stream for each.
template <class L, class R, class S>
auto late_sides(S late, const JoinOptions& options) {
    return alternatives<L, R>(std::move(late), options.name, {"late-left", "late-right"});
}

/// An interval join, of which `finished(operator)` is applied.
template <class Left, class Right, class LeftKey, class LeftTime, class RightKey, class RightTime,
          class F, class Finished>
auto interval_join(Left&& left, Right&& right, JoinSide<LeftKey, LeftTime> left_side,
                   JoinSide<RightKey, RightTime> right_side, JoinInterval interval, F combine,
                   const JoinOptions& options, const Finished& finished) {
    using L = typename Left::record_type;
    using R = typename Right::record_type;
    using KeyOf = window::EitherKey<LeftKey, RightKey>;
    using Join = window::KeyedIntervalJoin<L, R, KeyOf, LeftTime, RightTime, F>;
    check_join<L, R, F>(options);
    KeyOf key_of{std::move(left_side.key_of), std::move(right_side.key_of)};
    return both_sides<window::EitherSide<L, R>>(std::forward<Left>(left),
                                                std::forward<Right>(right), key_of, options)
        .apply(finished(Join{interval, std::move(key_of), std::move(left_side.time_of),
                             std::move(right_side.time_of), std::move(combine), options}),
               {.name = options.name, .parallelism = options.parallelism});
}

/// What a window join makes of the records of both sides: `windowed(keyed, time_of, process,
/// options)`.
template <class Left, class Right, class LeftKey, class LeftTime, class RightKey, class RightTime,
          class F, class Windowed>
auto window_join(Left&& left, Right&& right, JoinSide<LeftKey, LeftTime> left_side,
                 JoinSide<RightKey, RightTime> right_side, F combine, const JoinOptions& options,
                 const Windowed& windowed) {
    using L = typename Left::record_type;
    using R = typename Right::record_type;
    using Either = window::EitherSide<L, R>;
    using KeyOf = window::EitherKey<LeftKey, RightKey>;
    check_join<L, R, F>(options);
    const KeyOf key_of{std::move(left_side.key_of), std::move(right_side.key_of)};
    return windowed(
        both_sides<Either>(std::forward<Left>(left), std::forward<Right>(right), key_of, options),
        window::EitherTime<LeftTime, RightTime>{std::move(left_side.time_of),
                                                std::move(right_side.time_of)},
        window::WindowJoin<L, R, F>{std::move(combine), options.kind}, of_windows(options));
}

}  // namespace graph

/// The interval join of two streams by key: each left record with every right record of the same
/// key whose time lies in `interval` from its own. Both streams need `event_time`: state is kept
/// until both watermarks have passed it.
///
///     interval_join(std::move(flights), std::move(weather), on(&Flight::origin, &Flight::time),
///                   on(&Weather::origin, &Weather::time), {.lower = {-1h, false}, .upper = {0h}},
///                   [](const Flight& f, const Weather& w) { return Delay{f.delay, w.wind}; })
///
/// Records are kept longer than the batches they came with: those with text fields must own it
/// (std::array<char, N>, std::string). Records that are late by more than the options' lateness are
/// counted and not joined.
///
/// The watermark goes on as it came. The later of a pair's two times is never behind it: windows of
/// the pairs that go by the earlier one would call some of them late, and so would those that go by
/// the time of a record that met nobody.
///
/// Throws Error for an interval that no time lies in, GraphError for streams of two graphs, for a
/// negative lateness, or for an outer join whose function cannot be told that a side is missing.
template <class Left, class Right, class LeftKey, class LeftTime, class RightKey, class RightTime,
          class F>
    requires PairFunction<F, typename Left::record_type, typename Right::record_type>
auto interval_join(Left&& left, Right&& right, JoinSide<LeftKey, LeftTime> left_side,
                   JoinSide<RightKey, RightTime> right_side, JoinInterval interval, F combine,
                   JoinOptions options = {}) {
    return graph::interval_join(std::forward<Left>(left), std::forward<Right>(right),
                                std::move(left_side), std::move(right_side), interval,
                                std::move(combine), options, [](auto join) { return join; });
}

/// The same with the late records of either side as streams of their own:
/// `auto [pairs, late_flights, late_weather] = interval_join(..., late_apart)`.
template <class Left, class Right, class LeftKey, class LeftTime, class RightKey, class RightTime,
          class F, class L = typename Left::record_type, class R = typename Right::record_type>
    requires PairFunction<F, L, R>
JoinStreams<typename window::PairResult<F, L, R>::type, L, R> interval_join(
    Left&& left, Right&& right, JoinSide<LeftKey, LeftTime> left_side,
    JoinSide<RightKey, RightTime> right_side, JoinInterval interval, F combine, LateApart,
    JoinOptions options = {}) {
    using U = typename window::PairResult<F, L, R>::type;
    auto [pairs, late_left, late_right] = graph::alternatives<U, L, R>(
        graph::interval_join(std::forward<Left>(left), std::forward<Right>(right),
                             std::move(left_side), std::move(right_side), interval,
                             std::move(combine), options,
                             [](auto join) { return graph::with_late<L, R>(std::move(join)); }),
        options.name, {"pairs", "late-left", "late-right"});
    return {std::move(pairs), std::move(late_left), std::move(late_right)};
}

/// The join of two streams by key and window, tumbling or sliding: each left record with every
/// right record of its key in the same window; a pair that lies in several windows comes out of
/// each. Out come WindowResult<K, U> when the watermarks pass the window's end, and for each record
/// that comes within the lateness behind it those that it adds. Both streams need `event_time`;
/// otherwise as interval_join. Which records are late depends on the run where one stream runs
/// ahead of the other, unless they are late by their own input (JoinOptions::late_by).
///
///     window_join(std::move(bids), std::move(asks), on(&Bid::item, &Bid::time),
///                 on(&Ask::item, &Ask::time), TimeWindows::tumbling(1s), match)
template <class Left, class Right, class LeftKey, class LeftTime, class RightKey, class RightTime,
          class F>
    requires PairFunction<F, typename Left::record_type, typename Right::record_type>
auto window_join(Left&& left, Right&& right, JoinSide<LeftKey, LeftTime> left_side,
                 JoinSide<RightKey, RightTime> right_side, window::TimeWindows windows, F combine,
                 JoinOptions options = {}) {
    return graph::window_join(
        std::forward<Left>(left), std::forward<Right>(right), std::move(left_side),
        std::move(right_side), std::move(combine), options,
        [&windows](auto keyed, auto time_of, auto pairs, WindowOptions of_window) {
            return std::move(keyed).window(windows, std::move(time_of), std::move(pairs),
                                           std::move(of_window));
        });
}

/// The same with the late records of either side as streams of their own: those whose windows are
/// all closed; by LateBy::own_input also those of which one is over by that input's promise.
template <class Left, class Right, class LeftKey, class LeftTime, class RightKey, class RightTime,
          class F, class L = typename Left::record_type, class R = typename Right::record_type>
    requires PairFunction<F, L, R>
auto window_join(Left&& left, Right&& right, JoinSide<LeftKey, LeftTime> left_side,
                 JoinSide<RightKey, RightTime> right_side, window::TimeWindows windows, F combine,
                 LateApart, JoinOptions options = {}) {
    auto [pairs, late] = graph::window_join(
        std::forward<Left>(left), std::forward<Right>(right), std::move(left_side),
        std::move(right_side), std::move(combine), options,
        [&windows](auto keyed, auto time_of, auto pairs_of, WindowOptions of_window) {
            return std::move(keyed).window(windows, std::move(time_of), std::move(pairs_of),
                                           late_apart, std::move(of_window));
        });
    auto [late_left, late_right] = graph::late_sides<L, R>(std::move(late), options);
    return JoinStreams<typename decltype(pairs)::record_type, L, R>{
        std::move(pairs), std::move(late_left), std::move(late_right)};
}

}  // namespace strid
