// SPDX-License-Identifier: Apache-2.0
//
// Any acyclic graph: several sources, streams that are split, merged with others and with branches
// of other splits, spread over replicas and joined again. Drawn at random and compared with the
// same steps on vectors (random_graph.hpp); and the two shapes that paper 2's grammar does not
// have, by name.
#include <algorithm>

#include <gtest/gtest.h>

#include "random_graph.hpp"

namespace strid {
namespace {

using test::all_ways;
using test::Collected;
using test::Numbers;
using test::RandomGraph;
using test::Values;

const std::uint64_t count = test::perturbed ? 60 : 500;

TEST(Acyclic, RandomGraphsGiveWhatTheSameStepsOnVectorsGive) {
    std::uint64_t seed = test::first_seed();
    for (const auto& way : all_ways()) {
        for (int graph = 0; graph != 4; ++graph, ++seed) {
            SCOPED_TRACE(way.name + ", graph " + std::to_string(seed));
            RandomGraph{seed}.check(way.options);
        }
    }
}

TEST(Acyclic, BranchesOfDifferentSplitsMerge) {
    const auto parity = [](const std::uint64_t& n) { return n % 2; };
    Values even;
    Values odd;
    for (std::uint64_t n = 0; n != count; ++n) {
        even.push_back(n % 2 == 0 ? n : n + 10'000);
        odd.push_back(n % 2 == 1 ? n : n + 10'000);
    }
    std::sort(even.begin(), even.end());
    std::sort(odd.begin(), odd.end());
    for (const auto& way : all_ways()) {
        SCOPED_TRACE(way.name);
        Collected<std::uint64_t> first;
        Collected<std::uint64_t> second;
        Graph graph{"crossed"};
        auto here = graph.source(Numbers{count}).split(2, parity);
        auto there = graph.source(Numbers{count})
                         .rebalance()
                         .map([](const std::uint64_t& n) { return n + 10'000; })
                         .split(2, parity);
        here.select(0).merge(there.select(1)).sink(first.sink());
        there.select(0).merge(here.select(1)).rebalance().sink(second.sink());
        run(graph, way.options);
        EXPECT_EQ(first.sorted(), even);
        EXPECT_EQ(second.sorted(), odd);
    }
}

TEST(Acyclic, SeveralReplicasOfSeveralStreamsFeedSeveralOfOne) {
    Values expected;
    for (std::uint64_t n = 0; n != count; ++n) {
        expected.push_back(2 * n + 1);
        expected.push_back(3 * n + 1);
    }
    std::sort(expected.begin(), expected.end());
    for (const auto& way : all_ways()) {
        SCOPED_TRACE(way.name);
        Collected<std::uint64_t> collected;
        Graph graph{"n to m"};
        auto doubled = graph.source(Numbers{count})
                           .rebalance()
                           .map([](const std::uint64_t& n) { return 2 * n; }, {.parallelism = 2});
        auto tripled = graph.source(Numbers{count})
                           .rebalance()
                           .map([](const std::uint64_t& n) { return 3 * n; }, {.parallelism = 3});
        std::move(doubled)
            .merge(std::move(tripled))
            .map([](const std::uint64_t& n) { return n + 1; }, {.name = "m", .parallelism = 4})
            .sink(collected.sink());
        const RunReport report = run(graph, way.options);
        EXPECT_EQ(collected.sorted(), expected);
        EXPECT_EQ(report.find("m")->parallelism, 4U);
        EXPECT_EQ(report.find("m")->records_in, 2 * count);
    }
}

}  // namespace
}  // namespace strid
