// SPDX-License-Identifier: Apache-2.0
//
// Loops against the obvious sequential computation, in every mode.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/base/error.hpp>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

/// A number and how many steps of Collatz it has taken.
struct Orbit {
    std::uint64_t start = 0;
    std::uint64_t at = 0;
    std::uint64_t steps = 0;
};
using Steps = std::pair<std::uint64_t, std::uint64_t>;

std::vector<Steps> steps_of_all(std::uint64_t count) {
    std::vector<Steps> all;
    for (std::uint64_t start = 0; start < count; ++start) {
        std::uint64_t steps = 0;
        for (std::uint64_t at = start + 1; at != 1; ++steps) at = at % 2 == 0 ? at / 2 : 3 * at + 1;
        all.emplace_back(start, steps);
    }
    return all;
}

const auto one_step = node<Steps>([](Orbit orbit, auto& emit) {
    if (orbit.at == 1) return emit(Steps{orbit.start, orbit.steps});
    orbit.at = orbit.at % 2 == 0 ? orbit.at / 2 : 3 * orbit.at + 1;
    ++orbit.steps;
    emit.again(orbit);
});

TEST(Loop, EndsWhenNoTaskIsInIt) {
    const auto expected = steps_of_all(60);
    const auto begin = [](std::uint64_t n) { return Orbit{n, n + 1, 0}; };
    for (const Options& options : all_options()) {
        Collected<Steps> collected;
        run(pipeline(numbers(60), begin, iterate(farm(one_step, FarmOptions{.workers = 3})),
                     collected.node()),
            options);
        ASSERT_EQ(collected.sorted(), expected);
    }
}

TEST(Loop, GoesThroughAPipelineAndACollector) {
    const auto expected = steps_of_all(40);
    const auto begin = [](std::uint64_t n) { return Orbit{n, n + 1, 0}; };
    const auto same = [](Orbit orbit) { return orbit; };
    for (const Options& options : all_options()) {
        Collected<Steps> collected;
        run(pipeline(numbers(40), begin,
                     iterate(pipeline(same, farm(same, FarmOptions{.workers = 2}), one_step)),
                     collected.node()),
            options);
        ASSERT_EQ(collected.sorted(), expected);
    }
}

/// Tasks that split, vanish, and come out: the leaves of a tree, by depth.
TEST(Loop, TasksMultiplyAndVanish) {
    struct Branch {
        std::uint64_t depth = 0;
        std::uint64_t number = 0;
    };
    const auto grow = node<std::uint64_t>([](Branch branch, auto& emit) {
        if (branch.number % 7 == 3) return;
        if (branch.depth == 0) return emit(branch.number);
        for (std::uint64_t i = 0; i < 2 + branch.number % 2; ++i) {
            emit.again(Branch{branch.depth - 1, 3 * branch.number + i});
        }
        if (branch.number % 5 == 0) emit(branch.number);
    });
    std::vector<std::uint64_t> expected;
    const std::function<void(Branch)> visit = [&](Branch branch) {
        if (branch.number % 7 == 3) return;
        if (branch.depth == 0) return expected.push_back(branch.number);
        for (std::uint64_t i = 0; i < 2 + branch.number % 2; ++i) {
            visit({branch.depth - 1, 3 * branch.number + i});
        }
        if (branch.number % 5 == 0) expected.push_back(branch.number);
    };
    for (std::uint64_t n = 0; n < 12; ++n) visit({n % 7, n});
    std::sort(expected.begin(), expected.end());
    for (const Options& options : all_options()) {
        Collected<std::uint64_t> collected;
        run(pipeline(
                numbers(12),
                [](std::uint64_t n) {
                    return Branch{n % 7, n};
                },
                iterate(farm(grow, FarmOptions{.workers = 2})), collected.node()),
            options);
        ASSERT_EQ(collected.sorted(), expected);
    }
}

/// A loop in a loop: the inner one counts down, the outer one sends each number through it again.
TEST(Loop, StandsInALoop) {
    struct Count {
        std::uint64_t left = 0;
        std::uint64_t rounds = 0;
        std::uint64_t sum = 0;
    };
    const auto inner = node<Count>([](Count count, auto& emit) {
        count.sum += count.left;
        if (count.left == 0) return emit(count);
        --count.left;
        emit.again(count);
    });
    const auto outer = node<std::uint64_t>([](Count count, auto& emit) {
        if (count.rounds == 0) return emit(count.sum);
        emit.again(Count{count.rounds, count.rounds - 1, count.sum});
    });
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 0; n < 30; ++n) {
        std::uint64_t sum = 0;
        for (std::uint64_t rounds = n % 6; rounds > 0; --rounds) sum += rounds * (rounds + 1) / 2;
        expected.push_back(sum + (n % 4) * (n % 4 + 1) / 2);
    }
    std::sort(expected.begin(), expected.end());
    for (const Options& options : all_options()) {
        Collected<std::uint64_t> collected;
        run(pipeline(
                numbers(30),
                [](std::uint64_t n) {
                    return Count{n % 4, n % 6, 0};
                },
                iterate(pipeline(iterate(farm(inner, FarmOptions{.workers = 2})), outer)),
                collected.node()),
            options);
        ASSERT_EQ(collected.sorted(), expected);
    }
}

TEST(Faults, AgainRequiresALoop) {
    const auto amiss = node<std::uint64_t>([](std::uint64_t n, auto& emit) {
        if constexpr (requires { emit.again(n); }) emit.again(n);
        emit(n);
    });
    Collected<std::uint64_t> collected;
    EXPECT_THROW(
        run(pipeline(numbers(), iterate(pipeline(amiss, [](std::uint64_t n) { return n; })),
                     collected.node())),
        OperatorError);
}

}  // namespace
}  // namespace strid
