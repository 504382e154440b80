// SPDX-License-Identifier: Apache-2.0
//
// A stream of variants as a stream for each type: each has the time of the stream.
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <strid/window/aggregates.hpp>

#include "../test_sources.hpp"

namespace strid {
namespace {

const std::uint64_t count = test::perturbed ? 300 : 1500;

struct Even {
    EventTime time;
    std::uint64_t number;
};
struct Odd {
    EventTime time;
};
using EvenOrOdd = std::variant<Even, Odd>;

EventTime time_of_number(std::uint64_t n) {
    return EventTime::of_ns(static_cast<std::int64_t>(n));
}
EvenOrOdd even_or_odd(std::uint64_t n) {
    if (n % 2 == 0) return Even{time_of_number(n), n};
    return Odd{time_of_number(n)};
}

TEST(SplitByType, BringsEachStreamTheTime) {
    std::vector<std::uint64_t> sums;
    std::vector<std::uint64_t> counts;
    Graph graph{"times"};
    auto [even, odd] = graph.source(test::Numbers{count})
                           .map(even_or_odd, {.parallelism = 1})
                           .event_time(
                               [](const EvenOrOdd& any) {
                                   return std::visit([](const auto& one) { return one.time; }, any);
                               },
                               MonotonousTime{})
                           .split_by_type();
    const auto windows = window::TimeWindows::tumbling(Duration{100});
    std::move(even)
        .timed_by<&Even::time>()
        .window(windows, window::sum<Even>([](const Even& one) { return one.number; }),
                {.parallelism = 1})
        .sink([&](const auto& result) { sums.push_back(result.value); });
    std::move(odd)
        .timed_by<&Odd::time>()
        .window(windows, window::count(), {.parallelism = 1})
        .sink([&](const auto& result) { counts.push_back(result.value); });
    run(graph);
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 0; n < count; n += 100) expected.push_back(50 * n + 49 * 50);
    EXPECT_EQ(sums, expected);
    EXPECT_EQ(counts, std::vector<std::uint64_t>(count / 100, 50));
}

}  // namespace
}  // namespace strid
