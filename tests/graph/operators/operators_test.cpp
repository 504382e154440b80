// SPDX-License-Identifier: Apache-2.0
//
// Every operator without keys against the obvious sequential computation, under every way to run a
// graph.
#include <algorithm>
#include <memory>
#include <numeric>

#include <gtest/gtest.h>

#include "../collected.hpp"
#include "../test_sources.hpp"

namespace strid {
namespace {

using test::all_ways;
using test::Collected;
using test::Numbers;

const std::uint64_t count = test::perturbed ? 600 : 3000;

std::vector<std::uint64_t> numbers(std::uint64_t n) {
    std::vector<std::uint64_t> result(n);
    std::iota(result.begin(), result.end(), 0);
    return result;
}

TEST(Operators, MapFilterAndFlatMapFuse) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 0; n < count; ++n) {
        const std::uint64_t doubled = n * 2 + 1;
        if (doubled % 3 == 0) continue;
        for (std::uint64_t i = 0; i < n % 3; ++i) expected.push_back(doubled + i);
    }
    std::sort(expected.begin(), expected.end());
    for (const auto& way : all_ways()) {
        SCOPED_TRACE(way.name);
        Collected<std::uint64_t> collected;
        Graph graph{"chain"};
        graph.source(Numbers{count})
            .map([](std::uint64_t& n) { n *= 2; })
            .map([](const std::uint64_t& n) { return n + 1; })
            .filter([](const std::uint64_t& n) { return n % 3 != 0; })
            .flat_map<std::uint64_t>([](const std::uint64_t& n, auto& emit) {
                for (std::uint64_t i = 0; i < (n - 1) / 2 % 3; ++i) emit(n + i);
            })
            .sink(collected.sink());
        const auto report = run(graph, way.options);
        EXPECT_EQ(collected.sorted(), expected);
        EXPECT_EQ(report.records_in(), count);
        EXPECT_EQ(report.records_out(), expected.size());
    }
}

TEST(Operators, BroadcastGivesEveryRecordToEveryReplica) {
    for (const auto& way : all_ways()) {
        SCOPED_TRACE(way.name);
        Collected<std::string> collected;
        Graph graph{"broadcast"};
        graph.source(Numbers{200})
            .map([](const std::uint64_t& n) { return "record number " + std::to_string(n); })
            .broadcast()
            .map([](std::string& text) { text += '!'; }, {.name = "all", .parallelism = 3})
            .sink(collected.sink());
        run(graph, way.options);
        std::vector<std::string> expected;
        for (int copy = 0; copy < 3; ++copy) {
            for (int n = 0; n < 200; ++n) {
                expected.push_back("record number " + std::to_string(n) + "!");
            }
        }
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(collected.sorted(), expected);
    }
}

TEST(Operators, SplitSendsToOneOrSeveralBranchesAndMergeJoinsThem) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 0; n < count; ++n) {
        if (n % 2 == 0) expected.push_back(n);
        if (n % 3 == 0) expected.push_back(n + 1'000'000);
        if (n % 5 == 0) expected.push_back(n + 2'000'000);
    }
    std::sort(expected.begin(), expected.end());
    for (const auto& way : all_ways()) {
        SCOPED_TRACE(way.name);
        Collected<std::uint64_t> collected;
        Graph graph{"split"};
        auto branches = graph.source(Numbers{count}).split(3, [](const std::uint64_t& n) {
            std::vector<std::size_t> to;
            if (n % 2 == 0) to.push_back(0);
            if (n % 3 == 0) to.push_back(1);
            if (n % 5 == 0) to.push_back(2);
            return to;
        });
        auto second = branches.select(1).map([](const std::uint64_t& n) { return n + 1'000'000; });
        auto third = branches.select(2).rebalance().map(
            [](const std::uint64_t& n) { return n + 2'000'000; });
        branches.select(0)
            .merge(std::move(second), std::move(third))
            .key_by([](const std::uint64_t& n) { return n; })
            .map([](const std::uint64_t& n) { return n; })
            .sink(collected.sink());
        run(graph, way.options);
        EXPECT_EQ(collected.sorted(), expected);
    }
}

TEST(Operators, RecordsThatOwnMemoryAreMovedAndDestroyed) {
    using Owner = std::unique_ptr<std::uint64_t>;
    for (const auto& way : all_ways()) {
        SCOPED_TRACE(way.name);
        Collected<std::uint64_t> collected;
        Graph graph{"owners"};
        graph.source(Numbers{count})
            .map([](const std::uint64_t& n) { return std::make_unique<std::uint64_t>(n); })
            .key_by([](const Owner& owner) { return *owner; })
            .map([](Owner&& owner) { return std::move(owner); })
            .rebalance()
            .map([](const Owner& owner) { return *owner; })
            .sink(collected.sink());
        run(graph, way.options);
        EXPECT_EQ(collected.sorted(), numbers(count));
    }
}

TEST(Operators, ParallelismChangesWithinAChain) {
    for (const auto& way : all_ways()) {
        SCOPED_TRACE(way.name);
        Collected<std::uint64_t> collected;
        Graph graph{"degrees"};
        graph.source(Numbers{count})
            .map([](const std::uint64_t& n) { return n + 1; }, {.parallelism = 2})
            .map([](const std::uint64_t& n) { return n + 1; }, {.parallelism = 2})
            .map([](const std::uint64_t& n) { return n - 2; }, {.parallelism = 3})
            .sink(collected.sink(), {.parallelism = 1});
        run(graph, way.options);
        EXPECT_EQ(collected.sorted(), numbers(count));
    }
}

TEST(Operators, ACallableMayAskForItsContext) {
    Collected<std::string> collected;
    Graph graph{"context"};
    graph.source(Numbers{4})
        .rebalance()
        .map(
            [](const std::uint64_t&, const Context& context) {
                return std::string{context.name} + ":" + std::to_string(context.parallelism) +
                       (context.replica < context.parallelism ? "" : " wrong");
            },
            {.name = "asks", .parallelism = 2})
        .sink(collected.sink());
    run(graph);
    EXPECT_EQ(collected.sorted(), (std::vector<std::string>(4, "asks:2")));
}

TEST(Operators, OneRecordMayFanOutBeyondEveryPoolAndRing) {
    constexpr std::uint64_t fan_out = 200'000;
    for (const std::size_t workers : {1U, 2U, 3U}) {
        Collected<std::uint64_t> collected;
        Graph graph{"fan-out"};
        graph.source(Numbers{2})
            .flat_map<std::uint64_t>([](const std::uint64_t& n, auto& emit) {
                for (std::uint64_t i = 0; i < fan_out; ++i) emit(n * fan_out + i);
            })
            .key_by([](const std::uint64_t& n) { return n % 3; })
            .map([](const std::uint64_t& n) { return n; })
            .sink(collected.sink());
        run(graph, {.workers = workers});
        EXPECT_EQ(collected.sorted(), numbers(2 * fan_out));
    }
}

TEST(Operators, AFlatMapFunctionMayNameItsEmitter) {
    Collected<std::uint64_t> collected;
    Graph graph{"emitter"};
    graph.source(Numbers{3})
        .flat_map<std::uint64_t>([](const std::uint64_t& n, Emitter<std::uint64_t>& emit) {
            for (std::uint64_t i = 0; i < n; ++i) emit(n);
        })
        .sink(collected.sink());
    run(graph);
    EXPECT_EQ(collected.sorted(), (std::vector<std::uint64_t>{1, 2, 2}));
}

TEST(Operators, AGraphRunsAgainFromItsPrototypes) {
    Graph graph{"again"};
    Collected<std::uint64_t> collected;
    graph.source(Numbers{count}).sink(collected.sink());
    for (int round = 0; round < 3; ++round) {
        run(graph);
        EXPECT_EQ(collected.sorted(), numbers(count));
    }
}

TEST(Operators, InletAndOutletConnectThreadsOfTheProgram) {
    Graph graph{"accelerator"};
    auto [inlet, stream] = graph.inlet<std::uint64_t>(16);
    auto outlet = std::move(stream)
                      .rebalance()
                      .map([](const std::uint64_t& n) { return n * n; }, {.parallelism = 2})
                      .outlet(8);
    auto running = start(graph);
    std::thread feeder{[inlet = inlet]() mutable {
        for (std::uint64_t n = 0; n < count; ++n) EXPECT_TRUE(inlet.push(n));
        inlet.close();
    }};
    std::vector<std::uint64_t> taken;
    while (auto square = outlet.pop()) taken.push_back(*square);
    feeder.join();
    running.wait();
    std::sort(taken.begin(), taken.end());
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 0; n < count; ++n) expected.push_back(n * n);
    EXPECT_EQ(taken, expected);
}

}  // namespace
}  // namespace strid
