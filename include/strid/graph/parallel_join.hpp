// SPDX-License-Identifier: Apache-2.0
//
// Joins whose work is shared by window instead of by key: one key can keep every core busy. As
// farmed windows do, every replica has every record, in batches that all of them read, and makes
// the pairs of those windows whose turn it has.
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
#include <strid/window/keyed_time_windows.hpp>
#include <strid/window/ordered_results.hpp>

namespace strid {

namespace graph {

/// Two streams as one of either's records with the hashes of their keys, for every replica.
template <class Either, class Left, class Right, class KeyOf>
auto both_sides_everywhere(Left&& left, Right&& right, const KeyOf& key_of,
                           const JoinOptions& options) {
    const auto everywhere = [&](auto side, const char* which) {
        return SharedWork::hashed(
                   std::move(side), key_of,
                   {.name = options.name.empty() ? "" : options.name + "-hash-" + which})
            .broadcast();
    };
    auto lefts =
        everywhere(as_either<Either, 0>(std::forward<Left>(left), options, "left"), "left");
    auto rights =
        everywhere(as_either<Either, 1>(std::forward<Right>(right), options, "right"), "right");
    return SharedWork::both(std::move(lefts), std::move(rights));
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
          class F>
    requires PairFunction<F, typename Left::record_type, typename Right::record_type>
auto parallel_interval_join(Left&& left, Right&& right, JoinSide<LeftKey, LeftTime> left_side,
                            JoinSide<RightKey, RightTime> right_side, JoinInterval interval,
                            F combine, JoinOptions options = {}) {
    using L = typename Left::record_type;
    using R = typename Right::record_type;
    using Either = window::EitherSide<L, R>;
    using KeyOf = window::EitherKey<LeftKey, RightKey>;
    using Stage = window::KeyedIntervalJoin<L, R, KeyOf, LeftTime, RightTime, F>;
    graph::check_outer_join<L, R, F>(options.kind);
    if (options.kind == JoinKind::full) {
        throw GraphError("a full join is partitioned by key: use interval_join");
    }
    KeyOf key_of{std::move(left_side.key_of), std::move(right_side.key_of)};
    auto everywhere = graph::both_sides_everywhere<Either>(
        std::forward<Left>(left), std::forward<Right>(right), key_of, options);
    Stage stage{interval,
                std::move(key_of),
                std::move(left_side.time_of),
                std::move(right_side.time_of),
                std::move(combine),
                options};
    stage.farm();
    return graph::SharedWork::with_watermarks(graph::SharedWork::shared<typename Stage::Out>(
        std::move(everywhere), std::move(stage),
        {.name = std::move(options.name), .parallelism = options.parallelism}, "parallel_join",
        "the replicas share the left records of every key"));
}

/// As window_join, for streams of which few keys have most of the records: window k of every key is
/// joined by replica k mod n. Out come WindowResult<K, U> in the order of their ends.
template <class Left, class Right, class LeftKey, class LeftTime, class RightKey, class RightTime,
          class F>
    requires PairFunction<F, typename Left::record_type, typename Right::record_type>
auto parallel_window_join(Left&& left, Right&& right, JoinSide<LeftKey, LeftTime> left_side,
                          JoinSide<RightKey, RightTime> right_side, window::TimeWindows windows,
                          F combine, JoinOptions options = {}) {
    using L = typename Left::record_type;
    using R = typename Right::record_type;
    using Either = window::EitherSide<L, R>;
    using KeyOf = window::EitherKey<LeftKey, RightKey>;
    using TimeOf = window::EitherTime<LeftTime, RightTime>;
    using U = typename window::PairResult<F, L, R>::type;
    using Shared = graph::SharedWork;
    graph::check_outer_join<L, R, F>(options.kind);
    KeyOf key_of{std::move(left_side.key_of), std::move(right_side.key_of)};
    auto pairs = window::process<Either, U>(
        window::PairsOfAWindow<L, R, F>{std::move(combine), options.kind});
    using Stage = window::KeyedTimeWindows<Either, KeyOf, operators::KeyType<KeyOf, Either>, TimeOf,
                                           decltype(pairs), false>;
    using Result = typename Stage::Result;
    auto everywhere = graph::both_sides_everywhere<Either>(
        std::forward<Left>(left), std::forward<Right>(right), key_of, options);
    Stage stage{windows,
                std::move(key_of),
                TimeOf{std::move(left_side.time_of), std::move(right_side.time_of)},
                std::move(pairs),
                {.at_end = options.at_end}};
    stage.farm();
    const std::string collector = options.name.empty() ? "" : options.name + "-collector";
    return Shared::collected<Result>(
        Shared::with_watermarks(Shared::shared<Result>(
            std::move(everywhere), std::move(stage),
            {.name = std::move(options.name), .parallelism = options.parallelism}, "parallel_join",
            "the replicas take turns with the windows of every key")),
        window::OrderedByTime<Result>{}, {.name = collector, .parallelism = 1});
}

}  // namespace strid
