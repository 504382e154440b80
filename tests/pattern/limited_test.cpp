// SPDX-License-Identifier: Apache-2.0
//
// Bounds on what is in flight: no more tasks or bytes than were allowed are ever inside, all leave
// where they wait, and those that are dropped are the newest or the oldest.
#include <atomic>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/pattern/accelerator.hpp>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

/// How many are inside now, and how many were at most.
struct Inside {
    std::atomic<std::size_t> now{0};
    std::atomic<std::size_t> most{0};

    void begin(std::size_t amount = 1) {
        const std::size_t sum = now.fetch_add(amount) + amount;
        for (std::size_t seen = most; seen < sum && !most.compare_exchange_weak(seen, sum);) {
        }
    }
    void end(std::size_t amount = 1) { now.fetch_sub(amount); }
};

TEST(Limited, HasNoMoreTasksInFlight) {
    for (const Options& options : all_options()) {
        Inside inside;
        Collected<std::uint64_t> results;
        const auto begin = [&inside](std::uint64_t n) {
            inside.begin();
            return n * n;
        };
        const auto end = [&inside](std::uint64_t n) {
            inside.end();
            return n;
        };
        run(pipeline(numbers(),
                     limited(pipeline(farm(begin, FarmOptions{.workers = 3}), end), {.tasks = 2}),
                     results.node()),
            options);
        ASSERT_EQ(results.sorted(), squares());
        ASSERT_GE(inside.most, 1U);
        ASSERT_LE(inside.most, 2U);
    }
}

/// A task that is larger than all the bytes is alone; the others never are more than the bytes.
TEST(Limited, HasNoMoreBytesInFlight) {
    for (const Options& options : all_options()) {
        Inside inside;
        std::atomic<bool> large_with_others{false};
        std::atomic<std::uint64_t> bytes{0};
        const auto size_of = [](std::uint64_t n) -> std::size_t {
            return n % 50 == 7 ? 500 : n % 40;
        };
        const auto begin = [&](std::uint64_t n) {
            inside.begin(size_of(n));
            if (size_of(n) == 500 && inside.now != 500) large_with_others = true;
            return n;
        };
        const auto end = [&](std::uint64_t n) {
            inside.end(size_of(n));
            bytes += size_of(n);
        };
        run(pipeline(numbers(), limited(pipeline(farm(begin, FarmOptions{.workers = 2}),
                                                 farm(end, FarmOptions{.workers = 2})),
                                        {.bytes = 100}, size_of)),
            options);
        std::uint64_t all = 0;
        for (std::uint64_t n = 0; n < task_count; ++n) all += size_of(n);
        ASSERT_EQ(bytes, all);
        ASSERT_LE(inside.most, 500U);
        ASSERT_FALSE(large_with_others);
    }
}

/// The size that a task has grown to counts until all of it has left.
TEST(Limited, CountsATaskUntilAllThatWasMadeOfItHasLeft) {
    for (const Options& options : all_options()) {
        Inside inside;
        Collected<std::uint64_t> results;
        const auto three = node<std::uint64_t>([&inside](std::uint64_t n, auto& emit) {
            inside.begin(3);
            for (int i = 0; i < 3; ++i) emit(n);
        });
        const auto pass = [&inside](std::uint64_t n) {
            inside.end();
            return n;
        };
        run(pipeline(numbers(100),
                     limited(pipeline(three, farm(pass, FarmOptions{.workers = 2})), {.tasks = 2}),
                     results.node()),
            options);
        std::vector<std::uint64_t> expected;
        for (std::uint64_t n = 0; n < 100; ++n) expected.insert(expected.end(), 3, n);
        ASSERT_EQ(results.sorted(), expected);
        ASSERT_LE(inside.most, 6U);
    }
}

/// A loop in a limit in a loop: 27 takes 111 steps of Collatz.
TEST(Limited, MayStandInALoopAndAroundOne) {
    for (const Options& options : all_options()) {
        const auto step = node<std::uint64_t>([](std::uint64_t n, auto& emit) {
            if (n <= 1) return emit(std::uint64_t{1});
            emit.again(n % 2 == 0 ? n / 2 : 3 * n + 1);
        });
        const auto pass = [](std::uint64_t n) { return n; };
        Collected<std::uint64_t> results;
        run(pipeline(
                numbers(30),
                iterate(pipeline(
                    limited(iterate(farm(step, FarmOptions{.workers = 2})), {.tasks = 3}), pass)),
                results.node()),
            options);
        ASSERT_EQ(results.tasks(), std::vector<std::uint64_t>(30, 1));
    }
}

/// While the only task in flight is held back, others come: which are kept is known.
TEST(Limited, DropsTheNewestOrTheOldest) {
    for (const WhenFull when_full : {WhenFull::drop_newest, WhenFull::drop_oldest}) {
        std::atomic<bool> open{false};
        std::atomic<bool> begun{false};
        auto held =
            accelerate<std::uint64_t>(limited(
                                          [&](std::uint64_t n) {
                                              begun = true;
                                              while (!open) std::this_thread::yield();
                                              return n;
                                          },
                                          {.tasks = 1, .when_full = when_full, .waiting = 2}),
                                      {.execution = {.workers = 3}});
        held.offload(0);
        while (!begun) std::this_thread::yield();
        for (std::uint64_t n = 1; n < 100; ++n) held.offload(n);
        held.end();
        // The entry has taken all that came: those that were dropped are counted.
        const auto dropped = [&held] {
            for (const NodeReport& node : held.report()) {
                if (node.name.starts_with("limit") && !node.counters.own.empty()) {
                    return node.counters.own.front().second;
                }
            }
            return std::uint64_t{0};
        };
        while (dropped() < 97) std::this_thread::yield();
        open = true;
        std::vector<std::uint64_t> results;
        while (const auto result = held.result()) results.push_back(*result);
        EXPECT_EQ(dropped(), 97U);
        const bool newest = when_full == WhenFull::drop_newest;
        EXPECT_EQ(results, newest ? (std::vector<std::uint64_t>{0, 1, 2})
                                  : (std::vector<std::uint64_t>{0, 98, 99}));
    }
}

TEST(Limited, WithoutANumberIsRefused) {
    EXPECT_THROW(run(pipeline(numbers(), limited([](std::uint64_t) {}, {}))), GraphError);
}

/// Tasks are still inside when it is destroyed.
TEST(Limited, IsCancelled) {
    std::atomic<bool> open{false};
    auto held = accelerate<std::string>(limited(farm(
                                                    [&open](std::string task) {
                                                        while (!open) std::this_thread::yield();
                                                        return task;
                                                    },
                                                    FarmOptions{.workers = 2}),
                                                {.tasks = 4}),
                                        {.execution = {.workers = 4}});
    // The workers of the farm keep two of the threads; the others take what is offloaded.
    for (int i = 0; i < 4; ++i) held.offload(std::string(100, 'x'));
    held.cancel();
    open = true;
}

}  // namespace
}  // namespace strid
