// SPDX-License-Identifier: Apache-2.0
//
// A stream read twice: every reader has every record, in order, with its time and its text.
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <strid/window/aggregates.hpp>

#include "../collected.hpp"
#include "../test_sources.hpp"

namespace strid {
namespace {

const std::uint64_t count = test::perturbed ? 300 : 1500;

std::vector<std::string> texts() {
    std::vector<std::string> all;
    for (std::uint64_t n = 0; n < count; ++n) all.push_back("record number " + std::to_string(n));
    return all;
}

TEST(Tee, GivesEveryReaderEveryRecordInOrder) {
    for (const auto& way : test::all_ways()) {
        SCOPED_TRACE(way.name);
        std::vector<std::string> first;
        std::vector<std::string> second;
        std::uint64_t third = 0;
        Graph graph{"tee"};
        auto [a, b, c] =
            graph.source(test::Numbers{count})
                .map([](std::uint64_t n) { return "record number " + std::to_string(n); },
                     {.parallelism = 1})
                .tee<3>();
        // A reader that moves from its records leaves those of the others as they are.
        std::move(a).sink([&](std::string&& text) { first.push_back(std::move(text)); });
        std::move(b).sink([&](const std::string& text) { second.push_back(text); });
        std::move(c).sink([&](const std::string&) { ++third; });
        run(graph, way.options);
        EXPECT_EQ(first, texts());
        EXPECT_EQ(second, texts());
        EXPECT_EQ(third, count);
    }
}

TEST(Tee, BringsEveryReaderTheTime) {
    const auto time_of = [](std::uint64_t n) {
        return EventTime::of_ns(static_cast<std::int64_t>(n));
    };
    std::vector<std::uint64_t> sums[2];
    Graph graph{"tee-time"};
    auto both = graph.source(test::Numbers{count}).event_time(time_of, MonotonousTime{}).tee<2>();
    for (std::size_t i = 0; i < 2; ++i) {
        std::move(both[i])
            .window(window::TimeWindows::tumbling(Duration{100}),
                    window::sum<std::uint64_t>([](std::uint64_t n) { return n; }),
                    {.parallelism = 1})
            .sink([&sums, i](const auto& result) { sums[i].push_back(result.value); });
    }
    run(graph);
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 0; n < count; n += 100) expected.push_back(100 * n + 99 * 100 / 2);
    EXPECT_EQ(sums[0], expected);
    EXPECT_EQ(sums[1], expected);
}

}  // namespace
}  // namespace strid
