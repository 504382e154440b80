// SPDX-License-Identifier: Apache-2.0
//
// Accelerators: tasks offloaded by one thread and by several, in every mode, ended, frozen, thawed,
// cancelled, failed and left alone.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/pattern/accelerator.hpp>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

template <class Squares>
std::vector<std::uint64_t> all_results(Squares& squares) {
    std::vector<std::uint64_t> all;
    while (const auto result = squares.result()) all.push_back(*result);
    return all;
}

TEST(Accelerator, TakesAllTasksBeforeTheFirstResultIsAskedFor) {
    for (const Options& options : all_options()) {
        auto squares =
            accelerate<std::uint64_t>(pipeline(square, [](std::uint64_t n) { return n; }), options);
        for (std::uint64_t n = 0; n < task_count; ++n) squares.offload(n);
        squares.end();
        ASSERT_EQ(all_results(squares), test::squares());
        EXPECT_EQ(squares.result(), std::nullopt);
        squares.wait();
    }
}

TEST(Accelerator, GivesEachResultBeforeTheNextTask) {
    for (const Options& options : all_options()) {
        auto squares = accelerate<std::uint64_t>(farm(square, FarmOptions{.workers = 2}), options);
        for (std::uint64_t n = 0; n < 100; ++n) {
            squares.offload(n);
            ASSERT_EQ(squares.result(), n * n);
        }
        EXPECT_EQ(squares.try_result(), std::nullopt);
        squares.end();
        ASSERT_EQ(squares.result(), std::nullopt);
    }
}

TEST(Accelerator, IsUsedBySeveralThreads) {
    for (const Options& options : all_options()) {
        auto squares = accelerate<std::uint64_t>(farm(square, FarmOptions{.workers = 3}), options);
        std::vector<std::thread> threads;
        for (std::uint64_t thread = 0; thread < 3; ++thread) {
            threads.emplace_back([&squares, thread] {
                for (std::uint64_t n = thread; n < task_count; n += 3) squares.offload(n);
            });
        }
        std::vector<std::uint64_t> results[2];
        std::atomic<std::uint64_t> taken{0};
        for (auto& mine : results) {
            threads.emplace_back([&squares, &mine, &taken] {
                while (const auto result = squares.result()) {
                    mine.push_back(*result);
                    if (++taken == task_count) squares.end();
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        results[0].insert(results[0].end(), results[1].begin(), results[1].end());
        std::sort(results[0].begin(), results[0].end());
        ASSERT_EQ(results[0], test::squares());
    }
}

TEST(Accelerator, IsFrozenAndThawed) {
    for (const Options& options : all_options()) {
        auto squares = accelerate<std::uint64_t>(farm(square, FarmOptions{.workers = 2}), options);
        for (std::uint64_t round = 1; round <= 3; ++round) {
            for (std::uint64_t n = 0; n < 50 * round; ++n) squares.offload(n);
            squares.freeze();
            EXPECT_THROW(squares.offload(1), Error);
            auto results = all_results(squares);
            std::sort(results.begin(), results.end());
            const auto all = test::squares();
            ASSERT_EQ(results,
                      std::vector(all.begin(), all.begin() + static_cast<long>(50 * round)));
            squares.thaw();
        }
    }
}

TEST(Accelerator, MayConsumeItsTasks) {
    std::atomic<std::uint64_t> sum{0};
    auto adder = accelerate<std::unique_ptr<std::uint64_t>>(
        farm([&sum](std::unique_ptr<std::uint64_t> n) { sum += *n; }));
    for (std::uint64_t n = 0; n < task_count; ++n) {
        adder.offload(std::make_unique<std::uint64_t>(n));
    }
    adder.freeze();
    EXPECT_EQ(sum, task_count * (task_count - 1) / 2);
}

/// Three side by side, one of which is cancelled.
TEST(Accelerator, IsCancelledWhileOthersGoOn) {
    for (const Options& options : all_options()) {
        auto one = accelerate<std::uint64_t>(farm(square, FarmOptions{.workers = 2}), options);
        auto cancelled = accelerate<std::uint64_t>(square, options);
        auto other = accelerate<std::uint64_t>(square, options);
        for (std::uint64_t n = 0; n < task_count; ++n) {
            one.offload(n);
            if (n < 10) cancelled.offload(n);
            if (n == 10) cancelled.cancel();
            other.offload(n);
        }
        one.end();
        other.end();
        EXPECT_EQ(cancelled.result(), std::nullopt);
        EXPECT_THROW(cancelled.offload(1), Error);
        auto results = all_results(one);
        std::sort(results.begin(), results.end());
        ASSERT_EQ(results, test::squares());
        ASSERT_EQ(all_results(other), test::squares());
    }
}

std::uint64_t breaks_at_300(std::uint64_t n) {
    if (n == 300) throw std::runtime_error("no 300");
    return n;
}

/// A thread that offloads, or waits for a result, gets what the node has thrown.
TEST(Accelerator, CarriesExceptionsToTheCaller) {
    const auto expect_cause = [](const auto& action) {
        try {
            action();
            FAIL() << "nothing was thrown";
        } catch (const OperatorError& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr("no 300"));
        }
    };
    for (const Options& options : all_options()) {
        auto broken =
            accelerate<std::uint64_t>(farm(breaks_at_300, FarmOptions{.workers = 2}), options);
        expect_cause([&] {
            for (std::uint64_t n = 0;; ++n) broken.offload(n % task_count);
        });
        expect_cause([&] {
            while (broken.result()) continue;
        });
        expect_cause([&] { broken.wait(); });
        auto waiting = accelerate<std::uint64_t>(breaks_at_300, options);
        std::thread thread([&] {
            expect_cause([&] {
                while (waiting.result()) continue;
            });
        });
        waiting.offload(300);
        thread.join();
    }
}

/// The destructor ends what runs, with results that were not taken and tasks that were not done.
TEST(Accelerator, IsDestroyedWhateverItHolds) {
    const auto shared = std::make_shared<int>(0);
    for (const Options& options : all_options()) {
        auto held = accelerate<std::shared_ptr<int>>(
            farm([](std::shared_ptr<int> held_one) { return held_one; }, FarmOptions{.workers = 2}),
            options);
        for (int i = 0; i < 40; ++i) held.offload(shared);
    }
    EXPECT_EQ(shared.use_count(), 1);
}

TEST(Accelerator, TriesWithoutWaiting) {
    std::atomic<bool> open{false};
    auto closed = accelerate<std::uint64_t>(
        [&open](std::uint64_t n) {
            while (!open) std::this_thread::yield();
            return n;
        },
        Options{.execution = {.workers = 1}, .lane_tasks = 2});
    std::uint64_t taken = 0;
    for (std::uint64_t task = 0; closed.try_offload(task); ++task) ++taken;
    EXPECT_GE(taken, 2U);
    EXPECT_LE(taken, 5U);
    EXPECT_EQ(closed.try_result(), std::nullopt);
    open = true;
    closed.end();
    EXPECT_EQ(all_results(closed).size(), taken);
}

}  // namespace
}  // namespace strid
