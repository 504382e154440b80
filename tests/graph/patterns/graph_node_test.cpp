// SPDX-License-Identifier: Apache-2.0
//
// Graphs as nodes of patterns: what leaves them is what the same functions give, however short the
// queues are and however few the threads; they end, fail and are cancelled with their pattern.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/pattern/accelerator.hpp>
#include <strid/stream/graph_node.hpp>

#include "../../pattern/patterns.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

constexpr std::uint64_t poison = 1'000'000;

/// n copies of n % 4, as text: none of some, three of others.
std::vector<std::string> texts_of(std::uint64_t n) {
    return std::vector<std::string>(n % 4, std::to_string(n));
}

auto texts(const GraphNodeOptions& options = {}) {
    return graph_node<std::uint64_t, std::string>(
        [](auto numbers) {
            return std::move(numbers).template flat_map<std::string>(
                [](std::uint64_t n, auto& emit) {
                    if (n == poison) throw std::runtime_error("a poisoned number");
                    for (const std::string& text : texts_of(n)) emit(text);
                },
                {.name = "texts"});
        },
        options);
}

std::vector<std::string> expected(std::uint64_t count) {
    std::vector<std::string> all;
    for (std::uint64_t n = 0; n < count; ++n) {
        for (std::string& text : texts_of(n)) all.push_back(std::move(text));
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// How graphs may run.
std::vector<GraphNodeOptions> all_runs() {
    std::vector<GraphNodeOptions> all;
    for (const std::size_t lane_tasks : {1U, 3U, 256U}) {
        all.push_back({.lane_tasks = lane_tasks});
        all.push_back({.run = {.workers = 2, .perturb = true}, .lane_tasks = lane_tasks});
        all.push_back({.run = {.mode = RunOptions::Mode::simulation, .seed = lane_tasks},
                       .lane_tasks = lane_tasks});
    }
    return all;
}

TEST(GraphNode, IsTheFunctionInEveryMode) {
    const std::uint64_t count = 200;
    const auto all = expected(count);
    for (const Options& options : all_options()) {
        for (const GraphNodeOptions& run_options : all_runs()) {
            test::Collected<std::string> collected;
            run(pipeline(numbers(count), farm(texts(run_options), FarmOptions{.workers = 2}),
                         collected.node()),
                options);
            ASSERT_EQ(collected.sorted(), all);
        }
    }
}

TEST(GraphNode, KeepsTheOrderOfItsGraph) {
    for (const GraphNodeOptions& options : all_runs()) {
        test::Collected<std::string> collected;
        run(pipeline(numbers(500), texts(options), collected.node()),
            Options{.execution = {.workers = 1}});
        std::vector<std::string> in_order;
        for (std::uint64_t n = 0; n < 500; ++n) {
            for (std::string& text : texts_of(n)) in_order.push_back(std::move(text));
        }
        ASSERT_EQ(collected.tasks(), in_order);
    }
}

// The results are more than all queues hold, and the one worker of the pattern is the only one that
// takes them: no step of the node may wait for either side.
TEST(GraphNode, FullQueuesOnBothSidesDoNotMakeItWait) {
    const GraphNodeOptions options{.lane_tasks = 1};
    std::uint64_t taken = 0;
    run(pipeline(numbers(2'000), texts(options), [&taken](const std::string&) { ++taken; }),
        Options{.execution = {.workers = 1}, .lane_tasks = 1});
    EXPECT_EQ(taken, expected(2'000).size());
}

TEST(GraphNode, AnErrorNamesTheNodeAndTheOperator) {
    for (const Options& options : all_options()) {
        const auto with_poison = [](std::uint64_t n) { return n == 100 ? poison : n; };
        try {
            run(pipeline(numbers(), with_poison, named("parse", texts()),
                         [](const std::string&) {}),
                options);
            FAIL() << "it ended well";
        } catch (const OperatorError& error) {
            EXPECT_STREQ(error.what(), "operator 'parse 3': operator 'texts': a poisoned number");
            EXPECT_EQ(error.operator_name(), "parse 3");
            EXPECT_THROW(std::rethrow_exception(error.cause()), std::runtime_error);
        }
    }
}

TEST(GraphNode, EndsItsGraphWhereThePatternFailsOrIsCancelled) {
    std::atomic<int> cancelled = 0;
    GraphNodeOptions options;
    options.run.on_end = [&cancelled](const RunEnd& end) {
        if (end.outcome == Outcome::cancelled) ++cancelled;
    };
    const auto fail = [](const std::string& text) {
        if (text == "50") throw std::runtime_error("no more");
    };
    // More than lie between the graph and what fails: the graph cannot have ended before.
    EXPECT_THROW(run(pipeline(numbers(poison), texts(options), fail)), OperatorError);
    EXPECT_EQ(cancelled, 1);

    auto accelerator = accelerate<std::uint64_t>(texts(options));
    accelerator.offload(2);
    EXPECT_EQ(accelerator.result(), "2");  // though no more comes
    EXPECT_EQ(accelerator.result(), "2");
    accelerator.cancel();
    accelerator.thaw();  // the graph is built anew
    EXPECT_EQ(cancelled, 2);
    accelerator.offload(3);
    accelerator.end();
    int results = 0;
    while (accelerator.result()) ++results;
    EXPECT_EQ(results, 3);
    accelerator.wait();
    EXPECT_EQ(cancelled, 2);
}

TEST(GraphNode, StandsInNoLoop) {
    const auto leave = node<std::string>([](const std::string& text, auto& emit) {
        if (text.empty()) emit.again(std::uint64_t{0});
        emit(text);
    });
    const auto loop =
        pipeline(numbers(3), iterate(pipeline(texts(), leave)), [](const std::string&) {});
    EXPECT_THROW(run(loop), GraphError);
}

}  // namespace
}  // namespace strid
