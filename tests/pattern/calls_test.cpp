// SPDX-License-Identifier: Apache-2.0
//
// Futures of single tasks: each has the result of its own task, or what was thrown for it.
#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/pattern/calls.hpp>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

/// The message of the exception that the future holds. To be asked when the pattern has ended: the
/// thread sanitizer does not see that the library counts the users of an exception.
template <class U>
std::string failure_of(std::future<U>& future) {
    try {
        future.get();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "none";
}

TEST(Calls, GiveEachTaskItsOwnResult) {
    for (const Options& options : all_options()) {
        auto squares =
            calls<std::uint64_t>(pipeline(farm(square, FarmOptions{.workers = 3}),
                                          [](std::uint64_t n) { return std::to_string(n); }),
                                 options);
        std::vector<std::future<std::string>> futures;
        for (std::uint64_t n = 0; n < task_count; ++n) futures.push_back(squares.submit(n));
        for (std::uint64_t n = task_count; n-- > 0;) {
            ASSERT_EQ(futures[n].get(), std::to_string(n * n));
        }
        squares.end();
        squares.wait();
        EXPECT_THROW(static_cast<void>(squares.submit(1)), Error);
    }
}

TEST(Calls, GiveWhatWasThrownToTheTaskAlone) {
    for (const Options& options : all_options()) {
        const auto odd_only = [](std::uint64_t n) {
            if (n % 2 == 0) throw std::invalid_argument(std::to_string(n));
            return n;
        };
        auto odd = calls<std::uint64_t>(
            pipeline(ordered_farm(odd_only, FarmOptions{.workers = 2}), square), options);
        std::vector<std::future<std::uint64_t>> futures;
        for (std::uint64_t n = 0; n < 100; ++n) futures.push_back(odd.submit(n));
        odd.end();
        odd.wait();
        for (std::uint64_t n = 0; n < 100; ++n) {
            if (n % 2 == 0) {
                ASSERT_EQ(failure_of(futures[n]), std::to_string(n));
            } else {
                ASSERT_EQ(futures[n].get(), n * n);
            }
        }
    }
}

TEST(Calls, GoThroughLoopsAndPoliciesOfTheTask) {
    for (const Options& options : all_options()) {
        // The steps that n takes to 1, by the rule of Collatz.
        struct Walk {
            std::uint64_t n = 0;
            int steps = 0;
        };
        const auto step = node<int>([](Walk walk, auto& emit) {
            if (walk.n == 1) return emit(walk.steps);
            emit.again(Walk{walk.n % 2 == 0 ? walk.n / 2 : 3 * walk.n + 1, walk.steps + 1});
        });
        auto steps = calls<Walk>(
            iterate(farm(step, ByKey{[](const Walk& walk) { return walk.n; }}, {.workers = 3})),
            options);
        auto of_27 = steps.submit({27, 0});
        auto of_6 = steps.submit({6, 0});
        EXPECT_EQ(of_27.get(), 111);
        EXPECT_EQ(of_6.get(), 8);
    }
}

TEST(Calls, SayThatATaskWasDone) {
    std::atomic<int> sum{0};
    auto add = calls<int>(farm([&sum](int n) { sum += n; }));
    std::vector<std::future<void>> futures;
    for (int n = 1; n <= 100; ++n) futures.push_back(add.submit(n));
    for (auto& future : futures) future.get();
    EXPECT_EQ(sum, 5050);
}

TEST(Calls, SayWhereNoResultWasMade) {
    auto odd = calls<int>([](int n) { return n % 2 == 0 ? std::nullopt : std::optional(n); });
    auto two = odd.submit(2);
    auto three = odd.submit(3);
    EXPECT_EQ(three.get(), 3);
    odd.end();
    odd.wait();
    EXPECT_EQ(failure_of(two), "no result was made of a task");
}

TEST(Calls, EndWhereTwoResultsAreMade) {
    auto twice = calls<int>(node<int>([](int n, auto& emit) {
        emit(n);
        emit(n);
    }));
    auto one = twice.submit(1);
    EXPECT_THROW(twice.wait(), OperatorError);
    static_cast<void>(failure_of(one));  // the first may have arrived or not
}

TEST(Calls, FailWhenThePatternIsCancelled) {
    for (int round = 0; round < 20; ++round) {
        std::atomic<bool> open{false};
        auto held = calls<int>(
            [&open](int n) {
                while (!open) std::this_thread::yield();
                return n;
            },
            {.execution = {.workers = 1}});
        std::vector<std::future<int>> futures;
        for (int n = 0; n < 5; ++n) futures.push_back(held.submit(n));
        held.cancel();
        open = true;
        held.wait();
        std::size_t failed = 0;
        for (auto& future : futures) failed += failure_of(future) == "the pattern was cancelled";
        EXPECT_GE(failed, 4U);  // the first may have been done
    }
}

}  // namespace
}  // namespace strid
