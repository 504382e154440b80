// SPDX-License-Identifier: Apache-2.0
//
// The doors of a graph, inlet and outlet, where something is not as it should be: more replicas
// than one, a second run, a graph that never runs or goes early, a record that is refused. A thread
// that waits at a door always gets an answer, and records are neither lost nor taken twice.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../test_sources.hpp"

namespace strid {
namespace {

using Record = std::unique_ptr<std::uint64_t>;

/// Why the graph cannot be run.
std::string refusal(const Graph& graph, const RunOptions& options = {}) {
    try {
        (void)graph.explain(options);
        return "taken";
    } catch (const GraphError& error) {
        return error.what();
    }
}

TEST(Doors, HaveOneReplicaWhoeverAsks) {
    constexpr const char* answer = "' has to see the whole stream and cannot have parallelism 2";
    {
        Graph graph{"two readers"};
        auto [inlet, stream] = graph.inlet<int>(8, {.name = "in", .parallelism = 2});
        std::move(stream).sink([](int) {});
        EXPECT_EQ(refusal(graph), std::string{"operator 'in"} + answer);
    }
    {
        Graph graph{"two writers"};
        auto [inlet, stream] = graph.inlet<int>(8, {.name = "in"});
        auto outlet = std::move(stream).rebalance().outlet(8, {.name = "out", .parallelism = 2});
        EXPECT_EQ(refusal(graph), std::string{"operator 'out"} + answer);
    }
    Graph graph{"asked for at the run"};
    auto [inlet, stream] = graph.inlet<int>(8, {.name = "in"});
    auto outlet = std::move(stream).rebalance().outlet(8, {.name = "out"});
    EXPECT_EQ(refusal(graph, {.operator_parallelism = {{"in", 2}}}),
              std::string{"operator 'in"} + answer);
    EXPECT_EQ(refusal(graph, {.operator_parallelism = {{"out", 2}}}),
              std::string{"operator 'out"} + answer);
}

TEST(Doors, OfAGraphThatNeverRunsAnswer) {
    std::optional<Graph> graph{"never"};
    auto [inlet, stream] = graph->inlet<int>(1);
    auto outlet = std::move(stream).rebalance().outlet(1);
    EXPECT_TRUE(inlet.push(1));
    std::thread pusher{[inlet = inlet]() mutable { EXPECT_FALSE(inlet.push(2)); }};
    std::thread popper{[outlet]() mutable { EXPECT_FALSE(outlet.pop().has_value()); }};
    graph.reset();
    pusher.join();
    popper.join();
    EXPECT_FALSE(inlet.try_push(3));
}

TEST(Doors, AnswerAfterARunThatWasCancelled) {
    Graph graph{"cancelled"};
    auto [inlet, stream] = graph.inlet<int>(1);
    auto outlet = std::move(stream).rebalance().outlet(1);
    {
        auto running = start(graph);
        EXPECT_TRUE(inlet.push(1));
    }
    EXPECT_FALSE(inlet.push(2));
    while (outlet.pop()) {
    }
}

TEST(Doors, ServeOneRun) {
    Graph graph{"twice"};
    auto [inlet, stream] = graph.inlet<int>(8, {.name = "in"});
    int sum = 0;
    std::move(stream).sink([&sum](int n) { sum += n; });
    inlet.push(1);
    inlet.close();
    run(graph);
    EXPECT_EQ(sum, 1);
    try {
        run(graph);
        FAIL() << "a second run was taken for one";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("an inlet serves one run"));
    }
}

TEST(Doors, LeaveARefusedRecordToItsOwner) {
    Graph graph{"refused"};
    auto [inlet, stream] = graph.inlet<Record>(1);
    std::uint64_t sum = 0;
    std::move(stream).sink([&sum](Record&& record) { sum += *record; });
    ASSERT_TRUE(inlet.push(std::make_unique<std::uint64_t>(1)));
    auto second = std::make_unique<std::uint64_t>(20);
    EXPECT_FALSE(inlet.try_push(std::move(second)));
    ASSERT_NE(second, nullptr);
    inlet.close();
    EXPECT_FALSE(inlet.push(std::move(second)));
    ASSERT_NE(second, nullptr);
    run(graph);
    EXPECT_EQ(sum, 1U);
}

TEST(Doors, TakeFromManyThreadsAndGiveToMany) {
    constexpr std::uint64_t threads = 3;
    const std::uint64_t each = test::perturbed ? 200 : 5'000;
    Graph graph{"many"};
    auto [inlet, stream] = graph.inlet<std::uint64_t>(4);
    auto outlet = std::move(stream).rebalance().outlet(4);
    auto running = start(graph);
    std::vector<std::thread> pushing;
    std::vector<std::thread> popping;
    std::vector<std::vector<std::uint64_t>> taken(threads);
    for (std::uint64_t thread = 0; thread < threads; ++thread) {
        pushing.emplace_back([inlet = inlet, thread, each]() mutable {
            for (std::uint64_t n = 0; n < each; ++n) {
                std::uint64_t record = n * threads + thread;
                while (n % 2 == 1 && !inlet.try_push(record)) std::this_thread::yield();
                EXPECT_TRUE(n % 2 == 1 || inlet.push(record));
            }
        });
        popping.emplace_back([outlet, &mine = taken[thread]]() mutable {
            while (auto record = outlet.pop()) mine.push_back(*record);
        });
    }
    for (auto& thread : pushing) thread.join();
    inlet.close();
    for (auto& thread : popping) thread.join();
    running.wait();
    std::vector<std::uint64_t> all;
    for (const auto& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), threads * each);
    for (std::uint64_t n = 0; n < all.size(); ++n) ASSERT_EQ(all[n], n);
}

}  // namespace
}  // namespace strid
