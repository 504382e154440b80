// SPDX-License-Identifier: Apache-2.0
//
// The late records of a join as streams of their own: each has the time of its stream.
#include <algorithm>
#include <cstdint>
#include <map>

#include "late_joins.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

constexpr auto ignore_record = [](const auto&) {};

std::int64_t window_start(std::int64_t ns, std::int64_t length) {
    return (ns / length - (ns % length < 0 ? 1 : 0)) * length;
}

using Counts = std::map<std::int64_t, std::uint64_t>;

/// By the start of their window. No lambda in the test, whose two joins share it.
void count_by_window(TimedStream<Order, &Order::time> late, Counts& counts) {
    std::move(late)
        .key_by([](const Order&) { return 0; })
        .window(TimeWindows::tumbling(100ns), window::count(), {.lateness = Duration::max()})
        .sink([&counts](const auto& row) { counts[row.window.start.ns()] = row.value; });
}

/// Windows over the late records use the times of these without being given a time function.
TEST(Joins, LateRecordsKeepTheTimeOfTheirStream) {
    const Inputs inputs = random_inputs(3, 600);
    Counts expected;
    const auto late_numbers = late_among(inputs.orders, &Order::number);
    for (const Order& order : inputs.orders) {
        if (!std::binary_search(late_numbers.begin(), late_numbers.end(), order.number)) continue;
        ++expected[window_start(order.time.ns(), 100)];
    }
    ASSERT_FALSE(expected.empty());
    const auto counted = [&](auto way) {
        Graph graph{"late"};
        Sides sides = replayed(graph, inputs);
        auto [pairs, late_events, late_orders] =
            std::move(sides.events)
                .join(std::move(sides.orders), keys, within(0ns, 10ns), make_pair, way);
        Counts counts;
        std::move(pairs).sink(ignore_record);
        std::move(late_events).sink(ignore_record);
        count_by_window(std::move(late_orders), counts);
        run(graph, run_options(1));
        return counts;
    };
    EXPECT_EQ(counted(late_apart), expected);
    EXPECT_EQ(counted(share::farmed | late_apart), expected);
}

}  // namespace
}  // namespace strid
