// SPDX-License-Identifier: Apache-2.0
//
// Joins of two streams, of the same type or of two.
//
// Threads: as Stream.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/graph/keyed_stream.hpp>
#include <strid/window/keyed_interval_join.hpp>

namespace strid {

/// The interval join of two streams by key: each left record with every right record of the same
/// key whose time lies in `interval` from its own. Both streams need `event_time`: state is kept
/// until both watermarks have passed it.
///
///     interval_join(std::move(flights), std::move(weather), on(&Flight::origin, &Flight::time),
///                   on(&Weather::origin, &Weather::time), {.lower = {-1h, false}, .upper = {0h}},
///                   [](const Flight& f, const Weather& w) { return Delay{f.delay, w.wind}; })
///
/// Records are kept longer than the batches they came with: those with text fields must own it
/// (std::array<char, N>, std::string). Late records are counted and not joined.
///
/// Throws Error for an interval that no time lies in, GraphError for streams of two graphs, or for
/// an outer join whose function cannot be told that a side is missing.
template <class Left, class Right, class LeftKey, class LeftTime, class RightKey, class RightTime,
          class F>
    requires PairFunction<F, typename Left::record_type, typename Right::record_type>
auto interval_join(Left&& left, Right&& right, JoinSide<LeftKey, LeftTime> left_side,
                   JoinSide<RightKey, RightTime> right_side, JoinInterval interval, F combine,
                   JoinOptions options = {}) {
    static_assert(!std::is_lvalue_reference_v<Left> && !std::is_lvalue_reference_v<Right>,
                  "a join consumes its streams: pass them with std::move");
    using L = typename Left::record_type;
    using R = typename Right::record_type;
    using KeyOf = window::EitherKey<LeftKey, RightKey>;
    using Either = window::EitherSide<L, R>;
    using Stage = window::KeyedIntervalJoin<L, R, KeyOf, LeftTime, RightTime, F>;
    if (options.kind != JoinKind::inner && !std::invocable<const F&, const L*, const R*>) {
        throw GraphError("an outer join needs a function of two pointers: one may be null");
    }
    KeyOf key_of{std::move(left_side.key_of), std::move(right_side.key_of)};
    const auto side = [&options](const char* which) {
        return OperatorOptions{.name = options.name.empty() ? "" : options.name + "-" + which};
    };
    auto lefts = std::move(left)
                     .map(
                         [](L&& record) {
                             return Either{std::in_place_index<0>, std::move(record)};
                         },
                         side("left"))
                     .key_by(key_of);
    auto rights = std::move(right)
                      .map(
                          [](R&& record) {
                              return Either{std::in_place_index<1>, std::move(record)};
                          },
                          side("right"))
                      .key_by(key_of);
    return std::move(lefts)
        .merge(std::move(rights))
        .through(Stage{interval, std::move(key_of), std::move(left_side.time_of),
                       std::move(right_side.time_of), std::move(combine), options.kind},
                 {.name = std::move(options.name), .parallelism = options.parallelism}, "join");
}

}  // namespace strid
