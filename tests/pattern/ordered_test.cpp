// SPDX-License-Identifier: Apache-2.0
//
// Ordered farms and fused nodes: what leaves is what one node would have made, in its order, in
// every mode, however long the tasks take.
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/base/clock.hpp>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

/// Some tasks take long, so that later ones are done before.
std::uint64_t unevenly(std::uint64_t n) {
    if (n * 7919 % 13 > 9) {
        for (const std::int64_t until_ns = now_ns() + 2'000; now_ns() < until_ns;) continue;
    }
    return n;
}

template <class Worker, class Policy>
void is_in_order(const Worker& worker, const Policy& policy,
                 const std::vector<std::uint64_t>& expected) {
    for (const Options& options : all_options()) {
        for (const std::size_t workers : {2U, 5U}) {
            Collected<std::uint64_t> collected;
            run(pipeline(numbers(), ordered_farm(worker, policy, {.workers = workers}),
                         collected.node()),
                options);
            ASSERT_EQ(collected.tasks(), expected) << workers << " workers";
        }
    }
}

const auto slow_square = [](std::uint64_t n) { return square(unevenly(n)); };

TEST(OrderedFarm, KeepsTheOrderByEveryPolicy) {
    is_in_order(slow_square, Adaptive{}, squares());
    is_in_order(slow_square, RoundRobin{}, squares());
    is_in_order(slow_square, OnDemand{1}, squares());
    is_in_order(slow_square, LeastLoaded{}, squares());
    is_in_order(slow_square, ByKey{[](std::uint64_t n) { return n % 11; }}, squares());
}

TEST(OrderedFarm, KeepsTheOrderOfWorkersThatMakeNoneOrMany) {
    std::vector<std::uint64_t> odd;
    std::vector<std::uint64_t> many;
    for (std::uint64_t n = 0; n < task_count; ++n) {
        if (n % 2 == 1) odd.push_back(n);
        for (std::uint64_t i = 0; i < n % 4; ++i) many.push_back(n + i);
    }
    is_in_order(
        [](std::uint64_t n) { return unevenly(n) % 2 == 1 ? std::optional{n} : std::nullopt; },
        Adaptive{}, odd);
    is_in_order(node<std::uint64_t>([](std::uint64_t n, auto& emit) {
                    for (std::uint64_t i = 0; i < unevenly(n) % 4; ++i) emit(n + i);
                }),
                OnDemand{}, many);
}

/// The order behind several nodes is that in which one node gets their tasks.
TEST(OrderedFarm, StandsBehindAFarmAndBeforeOne) {
    for (const Options& options : all_options()) {
        Collected<std::uint64_t> collected;
        run(pipeline(numbers(), farm(square, FarmOptions{.workers = 2}),
                     ordered_farm([](std::uint64_t n) { return n; }, FarmOptions{.workers = 3}),
                     farm([](std::uint64_t n) { return n; }, FarmOptions{.workers = 2}),
                     collected.node()),
            options);
        ASSERT_EQ(collected.sorted(), squares());
    }
}

/// Counts its tasks, and says how many there were.
class Counted : public OperatorTypes<std::uint64_t, std::uint64_t> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "counted", .emits = Emits::any_number, .hears = events<Ended>};

    void process(std::uint64_t& n, auto& emit) {
        ++count_;
        if (n % 2 == 0) emit(n);
    }
    void on(Ended, auto& emit) { emit(1'000'000 + count_); }
    auto state() { return std::tie(count_); }

  private:
    std::uint64_t count_ = 0;
};

TEST(OrderedFarm, WhatWorkersMakeAtTheEndComesLast) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 0; n < task_count; n += 2) expected.push_back(n);
    for (const Options& options : all_options()) {
        Collected<std::uint64_t> collected;
        run(pipeline(numbers(), ordered_farm(Counted{}, FarmOptions{.workers = 3}),
                     collected.node()),
            options);
        auto tasks = collected.tasks();
        ASSERT_EQ(tasks.size(), expected.size() + 3);
        std::uint64_t counted = 0;
        for (int i = 0; i < 3; ++i) {
            counted += tasks.back() - 1'000'000;
            tasks.pop_back();
        }
        EXPECT_EQ(counted, task_count);
        ASSERT_EQ(tasks, expected);
    }
}

TEST(OrderedFarm, StandsInALoop) {
    struct Countdown {
        std::uint64_t number = 0;
        std::uint64_t left = 0;
    };
    for (const Options& options : all_options()) {
        Collected<std::uint64_t> collected;
        run(pipeline(
                numbers(100),
                [](std::uint64_t n) {
                    return Countdown{n, n % 9};
                },
                iterate(pipeline(
                    // Every third vanishes when half of it is counted.
                    ordered_farm(
                        [](Countdown count) {
                            const bool vanishes = count.number % 3 == 0 && count.left == 4;
                            return vanishes ? std::nullopt : std::optional{count};
                        },
                        FarmOptions{.workers = 2}),
                    node<std::uint64_t>([](Countdown count, auto& emit) {
                        if (count.left == 0) return emit(count.number);
                        emit.again(Countdown{count.number, count.left - 1});
                    }))),
                collected.node()),
            options);
        std::vector<std::uint64_t> expected;
        for (std::uint64_t n = 0; n < 100; ++n) {
            if (n % 3 != 0 || n % 9 < 4) expected.push_back(n);
        }
        ASSERT_EQ(collected.sorted(), expected);
    }
}

TEST(Fused, IsOneNodeThatDoesWhatItsPartsDo) {
    const auto odd = [](std::uint64_t n) { return n % 2 == 1 ? std::optional{n} : std::nullopt; };
    const auto boxed = [](std::uint64_t n) { return std::make_unique<std::uint64_t>(n); };
    const auto twice = node<std::uint64_t>([](std::unique_ptr<std::uint64_t> n, auto& emit) {
        emit(*n);
        emit(*n);
    });
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 1; n < task_count; n += 2) expected.insert(expected.end(), 2, n * n);
    for (const Options& options : all_options()) {
        Collected<std::uint64_t> collected;
        const auto report =
            run(pipeline(numbers(), fused(odd, square, boxed, twice), collected.node()), options);
        ASSERT_EQ(collected.tasks(), expected);
        EXPECT_EQ(report.size(), 3U);
    }
    is_in_order(fused(odd, square, boxed, twice), Adaptive{}, expected);
}

/// Results that the first makes at its end go through the second before the end of the second.
TEST(Fused, EndsItsPartsInTheirOrder) {
    for (const Options& options : all_options()) {
        Collected<std::uint64_t> collected;
        run(pipeline(numbers(10), fused(Counted{}, Counted{}), collected.node()), options);
        ASSERT_EQ(collected.tasks(),
                  (std::vector<std::uint64_t>{0, 2, 4, 6, 8, 1'000'010, 1'000'006}));
    }
}

}  // namespace
}  // namespace strid
