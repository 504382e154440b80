// SPDX-License-Identifier: Apache-2.0
//
// Loops as operators of a graph, against the same functions called one after the other: in the
// simulation, where every lane holds one task and every batch a few records, and with threads; and
// what becomes of one that fails or never ends.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/pattern/any_pattern.hpp>
#include <strid/stream/iterate.hpp>

#include "../collected.hpp"
#include "loop_problems.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;
using pattern::AnyPattern;

/// The items, one at a time.
struct Items {
    using record_type = Item;
    static constexpr SourceTraits traits{.hears = events<>};
    std::vector<Item> items;
    std::size_t next = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0 && next != items.size(); --budget) {
            if (!emit(Item{items[next++]})) return SourceStatus::more;
        }
        return next == items.size() ? SourceStatus::finished : SourceStatus::more;
    }
    auto state() { return std::tie(next); }
};

/// Some pattern that hands items on.
AnyPattern<Item, Item> passage(std::uint64_t number, std::size_t workers) {
    const auto same = [](Item item) { return item; };
    switch (number % 4) {
        case 0:
            return same;
        case 1:
            return pattern::farm(same, {.workers = workers});
        case 2:
            return pattern::ordered_farm(same, {.workers = workers});
        default:
            return pattern::farm(same, pattern::OnDemand{1}, {.workers = workers});
    }
}

/// A graph with a loop whose last node has so many replicas.
class Search {
  public:
    Search(const std::vector<Item>& items, const LoopStep& step, std::uint64_t number,
           std::size_t workers) {
        graph_.source(Items{items})
            .iterate(pattern::pipeline(
                         passage(number, workers),
                         pattern::farm(pattern::node<Item>(step), pattern::ByKey{&LoopStep::key_of},
                                       {.workers = workers})),
                     {.name = "search"})
            .sink(results_.sink());
    }

    [[nodiscard]] const Graph& graph() const noexcept { return graph_; }
    std::vector<Item> run(const RunOptions& options) {
        strid::run(graph_, options);
        return results_.sorted();
    }
    std::string failure(const RunOptions& options) {
        try {
            strid::run(graph_, options);
        } catch (const OperatorError& error) {
            return error.what();
        }
        return "it ended well";
    }

  private:
    Graph graph_{"search"};
    test::Collected<Item> results_;
};

RunOptions simulation(std::uint64_t seed) {
    return {.mode = RunOptions::Mode::simulation, .seed = seed};
}

TEST(PatternOperator, LoopsGiveWhatTheirFunctionsGiveInEverySchedule) {
    std::size_t results = 0;
    for (const std::uint64_t seed : seeds(300)) {
        const LoopProblem problem(seed);
        const auto expected = problem.results();
        results += expected.size();
        for (const std::size_t workers : {1U, 2U}) {
            Search search(problem.items(), problem.step(), seed, workers);
            ASSERT_EQ(search.run(simulation(seed)), expected) << "seed " << seed;
        }
    }
    EXPECT_GE(results, seeds(300).size() * 10);
}

TEST(PatternOperator, LoopsGiveTheSameWithThreads) {
    for (const std::uint64_t seed : seeds(30)) {
        const LoopProblem problem(seed);
        const auto expected = problem.results();
        Search search(problem.items(), problem.step(), seed, 0);
        for (const std::size_t workers : {1U, 2U, 3U}) {
            ASSERT_EQ(search.run({.workers = workers}), expected) << "seed " << seed;
            ASSERT_EQ(search.run({.workers = workers, .seed = seed, .perturb = true}), expected)
                << "seed " << seed;
        }
        ASSERT_EQ(search.run({.mode = RunOptions::Mode::dedicated}), expected) << "seed " << seed;
    }
}

TEST(PatternOperator, ManyRecordsFillTheLanes) {
    std::vector<Item> items;
    std::size_t expected = 0;
    for (std::uint64_t n = 0; n < 20'000; ++n) {
        items.push_back({Kind::range, n, 0, 3 + n % 3});
        expected += n % 3 == 0 ? 1 : 2;
    }
    Search search(items, {}, 1, 2);
    EXPECT_EQ(search.run({.workers = 2}).size(), expected);
    EXPECT_EQ(search.run({.workers = 1}).size(), expected);
}

TEST(PatternOperator, AnErrorNamesTheOperatorAndTheNode) {
    LoopProblem problem(7);
    std::vector<Item> items = problem.items();
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(items.size() / 2),
                 Item{Kind::poison, 0, 0, 0});
    Search search(items, problem.step(), 0, 1);
    for (const RunOptions& options : {RunOptions{.workers = 1}, RunOptions{}, simulation(3)}) {
        EXPECT_EQ(search.failure(options), "operator 'search: node 3': a poisoned item");
    }
}

TEST(PatternOperator, ALoopThatNeverEndsIsCancelled) {
    Search search({Item{Kind::endless, 0, 0, 0}}, {}, 0, 2);
    Running running = start(search.graph(), {.workers = 2});
    EXPECT_FALSE(running.wait_for(20ms));
    running.stop();
    EXPECT_FALSE(running.wait_for(20ms));
    running.cancel();
    EXPECT_TRUE(running.wait_for(60s));
}

TEST(PatternOperator, IsExplainedWithItsTasks) {
    Search search({}, {}, 0, 2);
    const std::string text = search.graph().explain();
    EXPECT_THAT(text, testing::HasSubstr("search"));
    EXPECT_THAT(text, testing::HasSubstr("iterate"));
    EXPECT_THAT(text, testing::HasSubstr("the stream behind has no time of its own"));
}

}  // namespace
}  // namespace strid
