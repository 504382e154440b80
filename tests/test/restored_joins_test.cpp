// SPDX-License-Identifier: Apache-2.0
//
// The state() of joins, and of what takes late records out before them, is complete (alike.hpp).
#include <string>

#include <strid/engine/window/joins/keyed_as_of_join.hpp>
#include <strid/engine/window/joins/keyed_interval_join.hpp>
#include <strid/engine/window/joins/pairs.hpp>
#include <strid/engine/window/operators/keyed_time_windows.hpp>
#include <strid/engine/window/operators/late_filter.hpp>
#include <strid/operator/time_order.hpp>
#include <strid/stream/options.hpp>

#include "alike.hpp"

namespace strid::test {
namespace {

using namespace window;

struct PairOf {
    std::string operator()(const Reading* left, const Reading* right) const {
        return (left != nullptr ? text_of(*left) : "alone") + "&" +
               (right != nullptr ? text_of(*right) : "alone");
    }
};
using EitherKeyOf = EitherKey<KeyOf, KeyOf>;
constexpr auto key_of_side = [](const Either& record) { return EitherKeyOf{}(record); };

template <class Make>
void join_is_complete(const Make& make, std::vector<std::size_t> unneeded = {}) {
    state_is_complete(make, arriving_by_key<Either>(key_of_side), a_side,
                      {.keys = 4, .cases = 200, .unneeded = std::move(unneeded)});
}

TEST(Restored, KeyedIntervalJoin) {
    using Join = KeyedIntervalJoin<Reading, Reading, EitherKeyOf, TimeOf, TimeOf, PairOf>;
    for (const JoinKind kind : {JoinKind::inner, JoinKind::left, JoinKind::full}) {
        const JoinOptions options{.kind = kind, .lateness = Duration{10}};
        join_is_complete([&] {
            return Join{{{Duration{-15}}, {Duration{20}}}, {}, {}, {}, {}, options};
        });
    }
}

TEST(Restored, KeyedAsOfJoin) {
    using Join =
        KeyedAsOfJoin<Reading, Reading, EitherKeyOf, TimeOf, TimeOf, operators::ByArrival, PairOf>;
    for (const bool tolerates : {false, true}) {
        AsOfOptions options{.kind = JoinKind::left, .lateness = Duration{10}};
        if (tolerates) options.tolerance = Duration{30};
        join_is_complete([&] { return Join{{}, {}, {}, {}, {}, options}; });
    }
}

/// Windows of both sides. Element 2 is the function, with the memory of the records.
TEST(Restored, KeyedTimeWindowsOfJoins) {
    using Pairs = WindowJoin<Reading, Reading, PairOf>;
    using Windows =
        KeyedTimeWindows<Either, EitherKeyOf, std::uint32_t, EitherTime<TimeOf, TimeOf>, Pairs>;
    join_is_complete(
        [] {
            return Windows{TimeWindows::sliding(Duration{30}, Duration{10}),
                           {},
                           {},
                           Pairs{{}, JoinKind::full},
                           {}};
        },
        {2});
}

TEST(Restored, LateFilter) {
    state_is_complete([] {
        return LateFilter<Reading, TimeOf, LateByWatermark>{{}, {Duration{5}}};
    });
    state_is_complete(
        [] {
            return LateFilter<Reading, TimeOf, LateByWindows>{
                {}, {TimeWindows::sliding(Duration{30}, Duration{10}), Duration{5}}};
        },
        {.disorder = 150});
}

}  // namespace
}  // namespace strid::test
