// SPDX-License-Identifier: Apache-2.0
//
// Replicas from measured loads (paper 2, section 5.3): the share of an operator in the work is its
// share of the workers.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <strid/strid.hpp>
#include <strid/window/aggregates.hpp>

#include "../test_sources.hpp"

namespace strid {
namespace {

using test::Numbers;

struct Drop {
    static constexpr FunctionTraits traits{.hears = events<>, .parallel_by_default = true};

    template <class T>
    void operator()(const T&) const {}
};

Graph two_sections() {
    Graph graph{"sections"};
    graph.source(Numbers{10}, {.name = "numbers"})
        .rebalance()
        .map([](std::uint64_t& n) { ++n; }, {.name = "heavy"})
        .key_by([](const std::uint64_t& n) { return n; })
        .map([](std::uint64_t& n) { ++n; }, {.name = "light"})
        .sink(Drop{}, {.name = "drop"});
    return graph;
}

std::size_t replicas(const std::string& name, const RunOptions& options) {
    const RunReport report = run(two_sections(), options);
    const OperatorReport* const found = report.find(name);
    return found != nullptr ? found->parallelism : 0;
}

std::uint64_t sum_of_all = 0;

/// Two replicas of a function without captures would race for the global.
TEST(Sizing, AFunctionAsASinkHasOneReplicaUnlessMoreAreAskedFor) {
    const auto drops = [](const OperatorOptions& sink) {
        Graph graph{"global"};
        graph.source(Numbers{10'000}, {.name = "numbers"})
            .rebalance()
            .map([](std::uint64_t& n) { ++n; }, {.name = "map", .parallelism = 3})
            .sink([](std::uint64_t n) { sum_of_all += n; }, sink);
        return graph;
    };
    sum_of_all = 0;
    const RunReport report = run(drops({.name = "drop"}), {.workers = 3});
    EXPECT_EQ(report.find("map")->parallelism, 3U);
    EXPECT_EQ(report.find("drop")->parallelism, 1U);
    EXPECT_EQ(sum_of_all, 10'000U * 10'001U / 2);
    const GraphDescription asked = drops({.name = "drop", .parallelism = 3}).description({});
    EXPECT_EQ(asked.segments.back().operators.back().parallelism, 3U);
}

TEST(Sizing, GivesEachSectionItsShareOfTheWorkers) {
    const std::map<std::string, double> loads{
        {"numbers", 10}, {"heavy", 60}, {"light", 20}, {"drop", 10}};
    struct Expected {
        std::size_t workers, heavy, light;
    };
    for (const auto& [workers, heavy, light] :
         {Expected{1, 1, 1}, Expected{2, 2, 1}, Expected{4, 3, 2}, Expected{10, 6, 3}}) {
        SCOPED_TRACE(workers);
        const RunOptions options{.workers = workers, .loads = loads};
        EXPECT_EQ(replicas("heavy", options), heavy);
        EXPECT_EQ(replicas("light", options), light);  // with the sink that it is fused with
        EXPECT_EQ(replicas("numbers", options), 1U);
    }
}

TEST(Sizing, WithoutLoadsIsOneReplicaPerWorkerAndWhatIsAskedForWins) {
    EXPECT_EQ(replicas("light", {.workers = 3}), 3U);
    const std::map<std::string, double> loads{{"heavy", 1}};
    EXPECT_EQ(replicas("light", {.workers = 3, .loads = loads}), 1U);  // measured: nothing to do
    EXPECT_EQ(replicas("light", {.workers = 3, .parallelism = 2, .loads = loads}), 2U);
    EXPECT_EQ(
        replicas("light", {.workers = 3, .operator_parallelism = {{"light", 2}}, .loads = loads}),
        2U);
}

Graph count_windows(std::uint64_t length, std::uint64_t slide, std::size_t source_replicas = 1) {
    Graph graph{"windows"};
    graph.source(Numbers{10}, {.name = "numbers", .parallelism = source_replicas})
        .key_by([](const std::uint64_t& n) { return n; })
        .window(window::CountWindows::sliding(length, slide),
                window::sum<std::uint64_t>(std::identity{}), {.name = "windows"})
        .sink(Drop{}, {.name = "drop"});
    return graph;
}

/// The same windows of several sources.
Graph merged_windows(std::size_t sources) {
    Graph graph{"merged"};
    Stream<std::uint64_t> stream = graph.source(Numbers{10});
    for (std::size_t s = 1; s < sources; ++s) {
        stream = std::move(stream).merge(graph.source(Numbers{10}));
    }
    std::move(stream)
        .key_by([](const std::uint64_t& n) { return n; })
        .window(window::CountWindows::sliding(1000, 25),
                window::sum<std::uint64_t>(std::identity{}), {.name = "windows"})
        .sink(Drop{}, {.name = "drop"});
    return graph;
}

/// Replicas of the operator "windows".
std::size_t planned(const Graph& graph, const RunOptions& options) {
    const GraphDescription plan = graph.description(options);
    for (const auto& segment : plan.segments) {
        for (const auto& op : segment.operators) {
            if (op.name == "windows") return op.parallelism;
        }
    }
    return 0;
}

/// By the two rules of docs/design/0007, worked out by hand; a key belongs to one of 128 groups.
TEST(Sizing, AWindowThatIsLightLeavesSourcesAWorkerOrHasTwoReplicasForEach) {
    struct Row {
        std::size_t sources;
        std::array<std::size_t, 7> replicas;  // for each number of workers
    };
    constexpr std::array<std::size_t, 7> workers{1, 2, 3, 4, 8, 64, 200};
    for (const auto& [sources, replicas] :
         {Row{1, {1, 4, 2, 3, 7, 63, 128}}, Row{2, {1, 4, 6, 8, 6, 62, 128}},
          Row{3, {1, 4, 6, 8, 5, 61, 128}}, Row{4, {1, 4, 6, 8, 16, 60, 128}},
          Row{40, {1, 4, 6, 8, 16, 128, 128}}}) {
        for (std::size_t i = 0; i < workers.size(); ++i) {
            SCOPED_TRACE(testing::Message() << sources << " sources, " << workers[i] << " workers");
            const RunOptions options{.workers = workers[i]};
            EXPECT_EQ(planned(count_windows(1000, 25, sources), options), replicas[i]);
            EXPECT_EQ(planned(merged_windows(sources), options), replicas[i]);
            // Many of its records complete a pane: no more than a replica for each worker.
            EXPECT_EQ(planned(count_windows(1000, 4, sources), options),
                      std::min<std::size_t>(workers[i], 128));
        }
    }
}

TEST(Sizing, AWindowThatIsLightRunsWithAsManyReplicasAsAreAskedFor) {
    const auto windows = [](const RunOptions& options) {
        return run(count_windows(1000, 25), options).find("windows")->parallelism;
    };
    EXPECT_EQ(windows({.workers = 2}), 4U);
    EXPECT_EQ(windows({.workers = 2, .parallelism = 2}), 2U);
    EXPECT_EQ(windows({.workers = 2, .operator_parallelism = {{"windows", 3}}}), 3U);
    EXPECT_EQ(windows({.workers = 6, .operator_parallelism = {{"numbers", 3}}}), 12U);
}

}  // namespace
}  // namespace strid
