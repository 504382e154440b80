// SPDX-License-Identifier: Apache-2.0
//
// Joins whose work is shared by window instead of by key: one key can keep every core busy. As
// farmed windows do, every replica has every record, in batches that all of them read, and makes
// the pairs of those windows whose turn it has. Which records are late, one replica before them
// says: they might not agree.
//
// Threads: as Stream.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/graph/join.hpp>
#include <strid/graph/shared_work.hpp>
#include <strid/window/operators/keyed_time_windows.hpp>
#include <strid/window/operators/ordered_results.hpp>
#include <strid/window/operators/punctual.hpp>

namespace strid {

namespace graph {

inline std::string part_of(const JoinOptions& options, const char* what) {
    return options.name.empty() ? "" : options.name + "-" + what;
}

/// Two streams as one of either's records, without the late ones or with them apart.
template <class Either, bool keeps_late, class Left, class Right, class TimeOf, class Rule>
auto both_sides_in_time(Left&& left, Right&& right, TimeOf time_of, Rule rule,
                        const JoinOptions& options) {
    window::Punctual<Either, TimeOf, Rule> punctual{std::move(time_of), std::move(rule)};
    const OperatorOptions of_punctual{.name = part_of(options, "in-time"), .parallelism = 1};
    auto both = as_either<Either, 0>(std::forward<Left>(left), options, "left")
                    .merge(as_either<Either, 1>(std::forward<Right>(right), options, "right"));
    if constexpr (keeps_late) {
        return std::move(both).apply(with_late<Either>(std::move(punctual)), of_punctual);
    } else {
        return std::move(both).apply(std::move(punctual), of_punctual);
    }
}

/// Such records with the hashes of their keys, for every replica.
template <class InTime, class KeyOf>
auto in_time_everywhere(InTime in_time, const KeyOf& key_of, const JoinOptions& options) {
    return SharedWork::hashed(std::move(in_time), key_of,
                              {.name = part_of(options, "hash"), .parallelism = 1}, true)
        .broadcast();
}

/// The replicas that join what is in time.
template <class Everywhere, class Operator>
auto shared_join(Everywhere everywhere, Operator one, const JoinOptions& options,
                 const char* note) {
    one.farm();
    return SharedWork::then(std::move(everywhere), std::move(one),
                            {.name = options.name, .parallelism = options.parallelism},
                            "parallel_join", note);
}

template <class L, class R, class InTime, class LeftKey, class LeftTime, class RightKey,
          class RightTime, class F>
auto shared_interval_join(InTime in_time, JoinSide<LeftKey, LeftTime> left_side,
                          JoinSide<RightKey, RightTime> right_side, JoinInterval interval,
                          F combine, const JoinOptions& options) {
    using KeyOf = window::EitherKey<LeftKey, RightKey>;
    using Join = window::KeyedIntervalJoin<L, R, KeyOf, LeftTime, RightTime, F>;
    KeyOf key_of{std::move(left_side.key_of), std::move(right_side.key_of)};
    auto everywhere = in_time_everywhere(std::move(in_time), key_of, options);
    return shared_join(std::move(everywhere),
                       Join{interval, std::move(key_of), std::move(left_side.time_of),
                            std::move(right_side.time_of), std::move(combine), options},
                       options, "the replicas share the left records of every key");
}

template <class L, class R, class InTime, class LeftKey, class LeftTime, class RightKey,
          class RightTime, class F>
auto shared_window_join(InTime in_time, JoinSide<LeftKey, LeftTime> left_side,
                        JoinSide<RightKey, RightTime> right_side, window::TimeWindows windows,
                        F combine, const JoinOptions& options) {
    using Either = window::EitherSide<L, R>;
    using KeyOf = window::EitherKey<LeftKey, RightKey>;
    using TimeOf = window::EitherTime<LeftTime, RightTime>;
    KeyOf key_of{std::move(left_side.key_of), std::move(right_side.key_of)};
    window::WindowJoin<L, R, F> pairs{std::move(combine), options.kind};
    using Windows = window::KeyedTimeWindows<Either, KeyOf, operators::KeyType<KeyOf, Either>,
                                             TimeOf, decltype(pairs)>;
    using Result = typename Windows::Result;
    auto everywhere = in_time_everywhere(std::move(in_time), key_of, options);
    WindowOptions of_window = of_windows(options);
    of_window.late_by = LateBy::slowest_input;  // who is late has been said
    return shared_join(std::move(everywhere),
                       Windows{windows, std::move(key_of),
                               TimeOf{std::move(left_side.time_of), std::move(right_side.time_of)},
                               std::move(pairs), of_window},
                       options, "the replicas take turns with the windows of every key")
        .apply(window::OrderedByTime<Result>{},
               {.name = part_of(options, "collector"), .parallelism = 1});
}

template <class LeftKey, class LeftTime, class RightKey, class RightTime>
auto time_of_either(const JoinSide<LeftKey, LeftTime>& left,
                    const JoinSide<RightKey, RightTime>& right) {
    return window::EitherTime<LeftTime, RightTime>{left.time_of, right.time_of};
}

template <class L, class R, class F>
void check_shared_interval_join(const JoinOptions& options) {
    check_join<L, R, F>(options);
    if (options.kind == JoinKind::full) {
        throw GraphError("a full join is partitioned by key: use interval_join");
    }
}

}  // namespace graph

/// As interval_join, for streams of which few keys have most of the records. Each left record is
/// joined by one replica, which its time names; the right records are kept by all, so that the
/// larger side, or the one that meets more, had better be the left one. Memory: that of
/// interval_join, and the right records once more for each further replica.
///
/// Throws what interval_join does, and GraphError for a full join: no replica alone knows which
/// right records met nobody.
template <class Left, class Right, class LeftKey, class LeftTime, class RightKey, class RightTime,
          class F, class L = typename Left::record_type, class R = typename Right::record_type>
    requires PairFunction<F, L, R>
auto parallel_interval_join(Left&& left, Right&& right, JoinSide<LeftKey, LeftTime> left_side,
                            JoinSide<RightKey, RightTime> right_side, JoinInterval interval,
                            F combine, JoinOptions options = {}) {
    graph::check_shared_interval_join<L, R, F>(options);
    auto in_time = graph::both_sides_in_time<window::EitherSide<L, R>, false>(
        std::forward<Left>(left), std::forward<Right>(right),
        graph::time_of_either(left_side, right_side), window::LateByPromise{options.lateness},
        options);
    return graph::shared_interval_join<L, R>(std::move(in_time), std::move(left_side),
                                             std::move(right_side), interval, std::move(combine),
                                             options);
}

/// The same with the late records of either side as streams of their own:
/// `auto [pairs, late_flights, late_weather] = parallel_interval_join(..., late_apart)`.
template <class Left, class Right, class LeftKey, class LeftTime, class RightKey, class RightTime,
          class F, class L = typename Left::record_type, class R = typename Right::record_type>
    requires PairFunction<F, L, R>
JoinStreams<typename window::PairResult<F, L, R>::type, L, R> parallel_interval_join(
    Left&& left, Right&& right, JoinSide<LeftKey, LeftTime> left_side,
    JoinSide<RightKey, RightTime> right_side, JoinInterval interval, F combine, LateApart,
    JoinOptions options = {}) {
    using Either = window::EitherSide<L, R>;
    graph::check_shared_interval_join<L, R, F>(options);
    auto [in_time, late] =
        graph::records_and_late<Either>(graph::both_sides_in_time<Either, true>(
                                            std::forward<Left>(left), std::forward<Right>(right),
                                            graph::time_of_either(left_side, right_side),
                                            window::LateByPromise{options.lateness}, options),
                                        options.name);
    auto pairs = graph::shared_interval_join<L, R>(std::move(in_time), std::move(left_side),
                                                   std::move(right_side), interval,
                                                   std::move(combine), options);
    auto [late_left, late_right] = graph::late_sides<L, R>(std::move(late), options);
    return {std::move(pairs), std::move(late_left), std::move(late_right)};
}

/// As window_join, for streams of which few keys have most of the records: window k of every key is
/// joined by replica k mod n. Out come WindowResult<K, U> in the order of their ends, but for what
/// records add that come within the lateness.
template <class Left, class Right, class LeftKey, class LeftTime, class RightKey, class RightTime,
          class F, class L = typename Left::record_type, class R = typename Right::record_type>
    requires PairFunction<F, L, R>
auto parallel_window_join(Left&& left, Right&& right, JoinSide<LeftKey, LeftTime> left_side,
                          JoinSide<RightKey, RightTime> right_side, window::TimeWindows windows,
                          F combine, JoinOptions options = {}) {
    graph::check_join<L, R, F>(options);
    auto in_time = graph::both_sides_in_time<window::EitherSide<L, R>, false>(
        std::forward<Left>(left), std::forward<Right>(right),
        graph::time_of_either(left_side, right_side),
        window::LateByWindows{windows, options.lateness, options.late_by}, options);
    return graph::shared_window_join<L, R>(std::move(in_time), std::move(left_side),
                                           std::move(right_side), windows, std::move(combine),
                                           options);
}

/// The same with the late records of either side as streams of their own (window_join).
template <class Left, class Right, class LeftKey, class LeftTime, class RightKey, class RightTime,
          class F, class L = typename Left::record_type, class R = typename Right::record_type>
    requires PairFunction<F, L, R>
auto parallel_window_join(Left&& left, Right&& right, JoinSide<LeftKey, LeftTime> left_side,
                          JoinSide<RightKey, RightTime> right_side, window::TimeWindows windows,
                          F combine, LateApart, JoinOptions options = {}) {
    using Either = window::EitherSide<L, R>;
    graph::check_join<L, R, F>(options);
    auto [in_time, late] = graph::records_and_late<Either>(
        graph::both_sides_in_time<Either, true>(
            std::forward<Left>(left), std::forward<Right>(right),
            graph::time_of_either(left_side, right_side),
            window::LateByWindows{windows, options.lateness, options.late_by}, options),
        options.name);
    auto pairs = graph::shared_window_join<L, R>(std::move(in_time), std::move(left_side),
                                                 std::move(right_side), windows, std::move(combine),
                                                 options);
    auto [late_left, late_right] = graph::late_sides<L, R>(std::move(late), options);
    return JoinStreams<typename decltype(pairs)::record_type, L, R>{
        std::move(pairs), std::move(late_left), std::move(late_right)};
}

}  // namespace strid
