// SPDX-License-Identifier: Apache-2.0
//
// Patterns inside nodes of patterns: they take no threads, do all their tasks, pass on what is
// thrown, and a node that waits for its own pattern gets an error.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/pattern/calls.hpp>
#include <strid/pattern/parallel_for.hpp>
#include <strid/pattern/task_graph.hpp>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

std::size_t threads_of_process() {
    const std::filesystem::directory_iterator all("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// The sum of the first n squares, by a pattern.
std::uint64_t sum_of_squares(std::uint64_t n) {
    std::uint64_t sum = 0;
    run(pipeline(numbers(n), farm(square, FarmOptions{.workers = 2}),
                 [&sum](std::uint64_t squared) { sum += squared; }));
    return sum;
}
std::uint64_t formula(std::uint64_t n) {
    return n == 0 ? 0 : (n - 1) * n * (2 * n - 1) / 6;
}

TEST(Nested, RunsTakeNoThreads) {
    for (const Options& options : all_options()) {
        Collected<std::uint64_t> results;
        std::atomic<std::size_t> threads_most{0};
        const std::size_t threads_outside = threads_of_process();
        const auto inner = [&](std::uint64_t n) {
            const std::uint64_t sum = sum_of_squares(n);
            std::size_t threads = threads_of_process();
            for (std::size_t seen = threads_most;
                 seen < threads && !threads_most.compare_exchange_weak(seen, threads);) {
            }
            return sum;
        };
        run(pipeline(numbers(40), ordered_farm(inner, FarmOptions{.workers = 3}), results.node()),
            options);
        std::vector<std::uint64_t> expected;
        for (std::uint64_t n = 0; n < 40; ++n) expected.push_back(formula(n));
        ASSERT_EQ(results.tasks(), expected);
        const std::size_t own = options.execution.mode == ExecutionOptions::Mode::dedicated ? 6 : 3;
        EXPECT_LE(threads_most, threads_outside + own);
    }
}

/// Three deep, an accelerator in an accelerator in an accelerator, with tasks in flight.
TEST(Nested, AcceleratorsWorkInEachOther) {
    for (const Options& options : all_options()) {
        const auto by_accelerator = [](const auto& function, std::uint64_t n) {
            auto inner = accelerate<std::uint64_t>(farm(function), Options{.lane_tasks = 2});
            std::uint64_t sum = 0;
            for (std::uint64_t i = 0; i < n; ++i) inner.offload(i);
            inner.end();
            while (const auto result = inner.result()) sum += *result;
            return sum;
        };
        const auto middle = [&](std::uint64_t n) { return by_accelerator(square, n); };
        const auto outer = [&](std::uint64_t n) { return by_accelerator(middle, n); };
        auto sums = accelerate<std::uint64_t>(farm(outer, FarmOptions{.workers = 2}), options);
        for (std::uint64_t n = 0; n < 10; ++n) sums.offload(n);
        sums.end();
        std::vector<std::uint64_t> results;
        while (const auto result = sums.result()) results.push_back(*result);
        std::sort(results.begin(), results.end());
        std::vector<std::uint64_t> expected;
        for (std::uint64_t n = 0; n < 10; ++n) {
            std::uint64_t sum = 0;
            for (std::uint64_t i = 0; i < n; ++i) sum += formula(i);
            expected.push_back(sum);
        }
        ASSERT_EQ(results, expected);
    }
}

/// One that was made in a node and is used by all replicas of it.
TEST(Nested, AcceleratorIsSharedByReplicas) {
    for (int round = 0; round < 20; ++round) {
        std::once_flag made;
        std::optional<Calls<std::uint64_t, std::uint64_t>> squares;
        std::atomic<std::uint64_t> sum{0};
        const auto use = [&](std::uint64_t n) {
            std::call_once(made, [&squares] { squares = calls<std::uint64_t>(square); });
            sum += squares->get(squares->submit(n));
        };
        run(pipeline(numbers(100), farm(use, FarmOptions{.workers = 3})),
            {.execution = {.workers = 3}});
        EXPECT_EQ(sum, formula(100));
    }
}

TEST(Nested, FailuresReachTheNode) {
    const auto fail = [](std::uint64_t n) -> std::uint64_t {
        if (n == 7) throw std::runtime_error("seven");
        return n;
    };
    std::atomic<int> failures{0};
    const auto inner = [&](std::uint64_t n) {
        try {
            run(pipeline(numbers(n), farm(fail), [](std::uint64_t) {}));
        } catch (const OperatorError&) {
            ++failures;
        }
    };
    run(pipeline(numbers(20), farm(inner, FarmOptions{.workers = 2})));
    EXPECT_EQ(failures, 12);
}

/// Those that are destroyed with tasks inside.
TEST(Nested, AreCancelled) {
    for (const Options& options : all_options()) {
        std::atomic<std::uint64_t> ends{0};
        const auto inner = [&ends](std::uint64_t n) {
            auto squares = accelerate<std::uint64_t>(farm(square));
            for (std::uint64_t i = 0; i < n; ++i) squares.offload(i);
            if (n % 2 == 0) squares.cancel();
            ++ends;
        };
        run(pipeline(numbers(20), farm(inner, FarmOptions{.workers = 2})), options);
        ASSERT_EQ(ends, 20U);
    }
}

TEST(Nested, NodeThatWaitsForItsOwnPatternGetsAnError) {
    for (const Options& options : all_options()) {
        if (options.execution.mode == ExecutionOptions::Mode::dedicated) continue;
        std::atomic<Accelerator<std::uint64_t, std::uint64_t>*> self{nullptr};
        auto waits = accelerate<std::uint64_t>(
            [&self](std::uint64_t n) {
                while (self == nullptr) std::this_thread::yield();
                self.load()->wait();
                return n;
            },
            options);
        self = &waits;
        waits.offload(1);
        try {
            static_cast<void>(waits.result());
            ADD_FAILURE();
        } catch (const OperatorError& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr("and so for itself"));
        }
    }
}

/// Patterns in iterations and in tasks: the threads of the team step them, the caller among them.
TEST(Nested, PatternsInLoopsAndTasksTakeNoThreads) {
    for (const std::size_t threads : {1U, 3U}) {
        Team team(threads);
        const std::size_t threads_before = threads_of_process();
        std::atomic<std::size_t> threads_most{0};
        std::vector<std::uint64_t> sums(60);
        const auto one = [&](std::size_t i) {
            auto inner = accelerate<std::uint64_t>(farm(square));
            for (std::uint64_t n = 0; n < i; ++n) inner.offload(n);
            inner.end();
            while (const auto result = inner.result()) sums[i] += *result;
            sums[i] += sum_of_squares(i);
            const std::size_t now = threads_of_process();
            for (std::size_t seen = threads_most;
                 seen < now && !threads_most.compare_exchange_weak(seen, now);) {
            }
        };
        parallel_for(team, 0, 30, one);
        TaskGraph graph(team);
        for (std::size_t i = 30; i < sums.size(); ++i) graph.task([&one, i] { one(i); });
        graph.wait();
        for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], 2 * formula(i));
        EXPECT_EQ(threads_most, threads_before);
    }
}

/// A farm, whose workers run loops and graphs of a team, whose iterations run farms. No more
/// threads than those of the pattern and of the team.
TEST(Nested, FarmsLoopsAndGraphsAreNestedByTurns) {
    Team team(2);
    const std::size_t threads_before = threads_of_process();
    std::atomic<std::size_t> threads_most{0};
    std::atomic<std::uint64_t> sum{0};
    const auto inner = [&](std::uint64_t n) {
        parallel_for(team, 0, 3, [&](std::size_t i) {
            TaskGraph graph(team);
            std::uint64_t of_graph = 0;
            graph.task([&] { of_graph = sum_of_squares(n + i); }, writes(of_graph));
            graph.task([&] { sum += of_graph; }, reads(of_graph));
            graph.wait();
        });
        threads_most = std::max(threads_most.load(), threads_of_process());
    };
    run(pipeline(numbers(60), farm(inner, FarmOptions{.workers = 3})),
        {.execution = {.workers = 3}});
    std::uint64_t expected = 0;
    for (std::uint64_t n = 0; n < 60; ++n) expected += formula(n) + formula(n + 1) + formula(n + 2);
    EXPECT_EQ(sum, expected);
    EXPECT_LE(threads_most, threads_before + 3);
}

/// A loop over a range in a node: the team's threads are shared by all nodes.
TEST(Nested, LoopsInNodesShareATeam) {
    Team team(2);
    std::atomic<std::uint64_t> sum{0};
    const auto inner = [&](std::uint64_t n) {
        sum += parallel_reduce(
            team, 0, n, std::uint64_t{0}, [](std::size_t i) { return i * i; }, std::plus<>{});
    };
    run(pipeline(numbers(200), farm(inner, FarmOptions{.workers = 3})));
    std::uint64_t expected = 0;
    for (std::uint64_t n = 0; n < 200; ++n) expected += formula(n);
    EXPECT_EQ(sum, expected);
}

}  // namespace
}  // namespace strid
