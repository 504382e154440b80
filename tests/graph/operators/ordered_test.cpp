// SPDX-License-Identifier: Apache-2.0
//
// `ordered` behind parallel operators brings back the order of the source, under every way to run a
// graph.
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "../test_sources.hpp"

namespace strid {
namespace {

using test::all_ways;
using test::Numbers;

const std::uint64_t count = test::perturbed ? 600 : 3000;

/// The same ways with batches so small that there is an order among them to be lost.
std::vector<test::Way> ways_of_small_batches() {
    auto ways = all_ways();
    for (auto& way : ways) way.options.block_bytes = 1024;
    return ways;
}

TEST(Ordered, KeepsTheOrderOfTheSourceAfterRebalance) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 0; n < count; ++n) {
        if (n % 5 != 0) expected.push_back(n * 3);
    }
    for (const auto& way : ways_of_small_batches()) {
        SCOPED_TRACE(way.name);
        std::vector<std::uint64_t> taken;
        Graph graph{"ordered"};
        graph.source(Numbers{count})
            .rebalance()
            .map([](const std::uint64_t& n) { return n * 3; })
            .filter([](const std::uint64_t& n) { return n % 5 != 0; })
            .ordered()
            .sink([&](std::uint64_t n) { taken.push_back(n); });
        run(graph, way.options);
        EXPECT_EQ(taken, expected);
    }
}

// Several batches come of one; batches between two replicas of a section stay in their order.
TEST(Ordered, ReachesBackOverSeveralParallelStages) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 0; n < count; ++n) {
        for (std::uint64_t i = 0; i != 3; ++i) expected.push_back(3 * n + i);
    }
    for (const auto& way : ways_of_small_batches()) {
        SCOPED_TRACE(way.name);
        std::vector<std::uint64_t> taken;
        Graph graph{"ordered"};
        graph.source(Numbers{count})
            .rebalance()
            .flat_map<std::uint64_t>([](const std::uint64_t& n, auto& emit) {
                for (std::uint64_t i = 0; i != 3; ++i) emit(3 * n + i);
            })
            .rebalance()
            .map([](const std::uint64_t& n) { return n + 1; })
            .ordered()
            .sink([&](std::uint64_t n) { taken.push_back(n - 1); });
        run(graph, way.options);
        EXPECT_EQ(taken, expected);
    }
}

TEST(Ordered, ReachesBackOverAnOperatorWithOneReplica) {
    for (const auto& way : ways_of_small_batches()) {
        SCOPED_TRACE(way.name);
        std::vector<std::uint64_t> taken;
        Graph graph{"ordered"};
        graph.source(Numbers{count})
            .rebalance()
            .map([](const std::uint64_t& n) { return n + 1; }, {.parallelism = 3})
            .map([](const std::uint64_t& n) { return n - 1; }, {.parallelism = 1})
            .ordered()
            .sink([&](std::uint64_t n) { taken.push_back(n); });
        run(graph, way.options);
        std::vector<std::uint64_t> expected(count);
        std::iota(expected.begin(), expected.end(), 0);
        EXPECT_EQ(taken, expected);
    }
}

}  // namespace
}  // namespace strid
