// SPDX-License-Identifier: Apache-2.0
//
// Runs that fail: callbacks that throw, runs that are stopped or cancelled,
// graphs that are dropped, records that make too many.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../endings.hpp"
#include "../test_sources.hpp"

namespace strid {
namespace {

using test::all_ways;
using test::Numbers;
using test::Tracked;
using testing::HasSubstr;

struct Endless {
    using record_type = std::uint64_t;
    static constexpr SourceTraits traits{.hears = events<>};
    std::uint64_t next = 0;
    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        while (budget-- != 0 && emit(std::uint64_t{next++})) {
        }
        return SourceStatus::more;
    }
    auto state() { return std::tie(next); }
};

enum class Where { source, map, keyed, sink };

struct ThrowingNumbers : Numbers {
    std::uint64_t fails_at = UINT64_MAX;
    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        if (next <= fails_at && fails_at < next + budget) {
            while (next != fails_at) emit(std::uint64_t{next++});
            throw std::runtime_error("the source broke");
        }
        return Numbers::poll(emit, budget);
    }
};

const std::uint64_t throwing_count = test::perturbed ? 400 : 2000;

void run_throwing(Where where, std::uint64_t at, const RunOptions& options) {
    const auto check = [=](Where here, std::uint64_t n, const char* what) {
        if (where == here && n == at) throw std::runtime_error(what);
    };
    Graph graph{"throwing"};
    ThrowingNumbers numbers;
    numbers.count = throwing_count;
    if (where == Where::source) numbers.fails_at = at;
    graph.source(numbers, {.name = "numbers"})
        .map(
            [=](const std::uint64_t& n) {
                check(Where::map, n, "the map broke");
                return Tracked{n};
            },
            {.name = "wrap"})
        .key_by([](const Tracked& t) { return t.value % 7; })
        .map([=](Tracked& t) { check(Where::keyed, t.value, "the keyed map broke"); },
             {.name = "keyed"})
        .rebalance()
        .sink([=](const Tracked& t) { check(Where::sink, t.value, "the sink broke"); },
              {.name = "out"});
    run(graph, options);
}

TEST(Failure, AThrowingCallbackEndsTheRunAndIsNamed) {
    const std::pair<Where, std::pair<const char*, const char*>> cases[] = {
        {Where::source, {"numbers", "the source broke"}},
        {Where::map, {"wrap", "the map broke"}},
        {Where::keyed, {"keyed", "the keyed map broke"}},
        {Where::sink, {"out", "the sink broke"}}};
    for (const auto& way : all_ways()) {
        for (const auto& [where, expected] : cases) {
            for (const std::uint64_t at :
                 {std::uint64_t{0}, throwing_count / 2, throwing_count - 1}) {
                SCOPED_TRACE(way.name + ", " + expected.first + " at " + std::to_string(at));
                try {
                    run_throwing(where, at, way.options);
                    ADD_FAILURE() << "nothing was thrown";
                } catch (const OperatorError& error) {
                    EXPECT_EQ(error.operator_name(), expected.first);
                    EXPECT_THAT(error.what(), HasSubstr(expected.second));
                    EXPECT_THROW(std::rethrow_exception(error.cause()), std::runtime_error);
                }
                ASSERT_EQ(Tracked::alive.load(), 0) << "records were lost or destroyed twice";
            }
        }
    }
}

TEST(Failure, StopDrainsWhatTheSourceEmitted) {
    std::atomic<std::uint64_t> taken{0};
    Graph graph{"endless"};
    graph.source(Endless{})
        .key_by([](const std::uint64_t& n) { return n % 16; })
        .sink([&](std::uint64_t) { taken.fetch_add(1, std::memory_order_relaxed); });
    auto running = start(graph);
    while (taken.load(std::memory_order_relaxed) < 10'000) std::this_thread::yield();
    running.stop();
    const auto report = running.wait();
    EXPECT_EQ(report.records_in(), taken.load());
    EXPECT_EQ(report.records_out(), taken.load());
}

TEST(Failure, CancelLeavesNothingBehind) {
    for (int round = 0; round < 20; ++round) {
        std::atomic<std::uint64_t> taken{0};
        Graph graph{"endless"};
        graph.source(Endless{})
            .map([](const std::uint64_t& n) { return Tracked{n}; })
            .broadcast()
            .map([](Tracked& t) { ++t.value; }, {.parallelism = 2})
            .sink([&](const Tracked&) { taken.fetch_add(1, std::memory_order_relaxed); });
        auto running = start(graph);
        while (taken.load(std::memory_order_relaxed) < 100) std::this_thread::yield();
        running.cancel();
        running.wait();
    }
    EXPECT_EQ(Tracked::alive.load(), 0);
}

std::size_t thread_count() {
    std::size_t threads = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator("/proc/self/task")) {
        ++threads;
    }
    return threads;
}

// And no byte: allocation_test.cpp.
TEST(Failure, AThousandRunsLeaveNoThread) {
    Graph graph{"short"};
    std::atomic<std::uint64_t> taken{0};
    graph.source(Numbers{100})
        .key_by([](const std::uint64_t& n) { return n; })
        .sink([&](std::uint64_t) { taken.fetch_add(1, std::memory_order_relaxed); });
    run(graph);  // a sanitizer starts a thread of its own with the first of ours
    const std::size_t before = thread_count();
    const int rounds = test::perturbed ? 200 : 1000;
    for (int round = 0; round < rounds; ++round) test::end_in_turn(start(graph), round);
    EXPECT_EQ(thread_count(), before);
    taken = 0;
    run(graph);
    EXPECT_EQ(taken.load(), 100U);
}

TEST(Failure, SeveralGraphsRunInOneProcess) {
    std::vector<std::unique_ptr<std::atomic<std::uint64_t>>> sums;
    std::vector<Running> running;
    for (std::uint64_t g = 0; g < 4; ++g) {
        auto& sum = *sums.emplace_back(std::make_unique<std::atomic<std::uint64_t>>(0));
        Graph graph{"graph-" + std::to_string(g)};
        graph.source(Numbers{10'000}).rebalance().sink([&sum](std::uint64_t n) {
            sum.fetch_add(n, std::memory_order_relaxed);
        });
        running.push_back(start(graph));  // the graph itself may go
    }
    for (auto& one : running) one.wait();
    for (const auto& sum : sums) EXPECT_EQ(sum->load(), 9'999U * 10'000U / 2);
}

TEST(Failure, AGraphThatWasNeverRunIsDropped) {
    Graph graph{"unused"};
    graph.source(Numbers{1})
        .map([](const std::uint64_t& n) { return Tracked{n}; })
        .sink([](auto&&) {});
    EXPECT_EQ(Tracked::alive.load(), 0);
}

TEST(Failure, OneRecordsOutputIsBoundedAndItsOperatorNamed) {
    constexpr std::size_t bytes_max = 1 << 20;
    for (auto way : all_ways()) {
        SCOPED_TRACE(way.name);
        way.options.fan_out_bytes_max = bytes_max;
        std::uint64_t emitted = 0;
        Graph graph{"endless"};
        graph.source(Numbers{1})
            .flat_map<std::uint64_t>(
                [&](const std::uint64_t& n, auto& emit) {
                    for (;; ++emitted) emit(n + emitted);
                },
                {.name = "endless"})
            .filter([](const std::uint64_t& n) { return n % 2 == 0; })
            .map([](const std::uint64_t& n) { return Tracked{n}; })
            .key_by([](const Tracked& t) { return t.value; })
            .sink(
                [](const Tracked&) { std::this_thread::sleep_for(std::chrono::microseconds(1)); });
        try {
            run(graph, way.options);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const OperatorError& error) {
            EXPECT_EQ(error.operator_name(), "endless");
            EXPECT_THAT(error.what(), HasSubstr("fan_out_bytes_max"));
        }
        EXPECT_EQ(Tracked::alive.load(), 0);
    }
}

TEST(Failure, WhatAnOutletHoldsOfOneRecordIsBoundedToo) {
    auto state = std::make_shared<operators::OutletState<std::uint64_t>>(16, 1 << 20);
    Graph graph{"endless"};
    graph.source(Numbers{1})
        .flat_map<std::uint64_t>(
            [](const std::uint64_t& n, auto& emit) {
                for (;;) emit(n);
            },
            {.name = "endless"})
        .sink(operators::OutletSink<std::uint64_t>{state}, {.parallelism = 1});
    try {
        run(graph);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const OperatorError& error) {
        EXPECT_EQ(error.operator_name(), "endless");
    }
}

TEST(Failure, ASplitToABranchThatDoesNotExistNamesTheOperator) {
    Graph graph{"split"};
    auto branches = graph.source(Numbers{10}, {.name = "numbers"})
                        .map([](const std::uint64_t& n) { return n; }, {.name = "chooser"})
                        .split(2, [](const std::uint64_t&) { return 5; });
    branches.select(0).sink([](std::uint64_t) {});
    branches.select(1).sink([](std::uint64_t) {});
    try {
        run(graph);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const OperatorError& error) {
        EXPECT_THAT(error.what(), HasSubstr("split chose branch 5 of 2"));
        EXPECT_EQ(error.operator_name(), "split behind chooser");
    }
}

}  // namespace
}  // namespace strid
