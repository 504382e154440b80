// SPDX-License-Identifier: Apache-2.0
//
// Loops, reductions and problems that divide, shared by a team, against the sequential computation:
// sizes about the number of parts, turns of uneven length, loops in loops, from several threads.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <strid/pattern/divide_and_conquer.hpp>
#include <strid/pattern/parallel_for.hpp>

#include "../support/seeds.hpp"
#include "../support/watchdog.hpp"

namespace strid::pattern {
namespace {

TEST(ParallelFor, TakesEachTurnOnce) {
    for (const std::size_t threads : {1U, 2U, 5U}) {
        Team team{threads};
        EXPECT_EQ(team.threads(), threads);
        for (const std::size_t size : {0U, 1U, 2U, 7U, 511U, 512U, 513U, 20'000U}) {
            for (const std::size_t least : {0U, 1U, 100U}) {
                std::vector<std::atomic<int>> turns(size + 3);
                parallel_for(team, 3, size + 3, [&](std::size_t i) { ++turns[i]; },
                             {.iterations_min = least});
                for (std::size_t i = 0; i < turns.size(); ++i) ASSERT_EQ(turns[i], i < 3 ? 0 : 1);
            }
        }
        parallel_for(team, 5, 3, [&](std::size_t) { FAIL() << "an empty range"; });
    }
}

constexpr Schedule schedules[] = {Schedule::automatic, Schedule::even, Schedule::dynamic,
                                  Schedule::guided};

TEST(ParallelFor, TakesEachTurnOnceByEverySchedule) {
    for (const std::size_t threads : {1U, 2U, 5U}) {
        Team team{threads};
        for (const Schedule schedule : schedules) {
            for (const std::size_t least : {0U, 1U, 7U, 10'000U}) {
                for (const std::size_t size : {0U, 1U, 2U, 99U, 1'000U}) {
                    const RangeOptions options{.iterations_min = least, .schedule = schedule};
                    std::vector<std::atomic<int>> turns(size + 3);
                    parallel_for(
                        team, 3, size + 3, [&](std::size_t i) { ++turns[i]; }, options);
                    for (std::size_t i = 0; i < turns.size(); ++i)
                        ASSERT_EQ(turns[i], i < 3 ? 0 : 1);
                    const auto sum = parallel_reduce(
                        team, 3, size + 3, std::uint64_t{5},
                        [](std::size_t i) { return std::uint64_t{i}; }, std::plus<>{}, options);
                    ASSERT_EQ(sum,
                              5 + size * 3 + size * (size - std::min(size, std::size_t{1})) / 2);
                }
            }
        }
    }
}

/// The parts that threads take, one after the other, for two threads.
std::vector<std::size_t> parts_of(std::size_t iterations, const RangeOptions& options) {
    std::vector<std::size_t> parts;
    Team alone{1};  // so that they are taken in order
    detail::share_range(
        alone, 0, iterations, detail::part_sizes(iterations, 2, options),
        [&](std::size_t first, std::size_t last) { parts.push_back(last - first); });
    return parts;
}

TEST(ParallelFor, DividesByTheSchedule) {
    using Parts = std::vector<std::size_t>;
    EXPECT_EQ(parts_of(101, {.schedule = Schedule::even}), (Parts{51, 50}));
    EXPECT_EQ(parts_of(100, {.iterations_min = 40, .schedule = Schedule::even}),
              (Parts{40, 40, 20}));
    EXPECT_EQ(parts_of(5, {.schedule = Schedule::dynamic}), (Parts{1, 1, 1, 1, 1}));
    EXPECT_EQ(parts_of(25, {.iterations_min = 10, .schedule = Schedule::dynamic}),
              (Parts{10, 10, 5}));
    EXPECT_EQ(parts_of(40, {.iterations_min = 5, .schedule = Schedule::guided}),
              (Parts{10, 7, 5, 5, 5, 5, 3}));
    EXPECT_EQ(parts_of(20, {.schedule = Schedule::guided}),
              (Parts{5, 3, 3, 2, 1, 1, 1, 1, 1, 1, 1}));
    // 6400 iterations, two threads: parts of 100 at the end, 1.6 % of the loop.
    const Parts by_default = parts_of(6'400, {});
    EXPECT_EQ(by_default.front(), 1'600U);
    EXPECT_EQ(by_default[by_default.size() - 2], 100U);
}

/// Iterations that end only when each thread of the team is in one: after pauses of any length, in
/// which threads look for work, fall asleep, or sleep.
TEST(ParallelFor, HasEveryThreadWhereIterationsAreLong) {
    const test::Watchdog watchdog;
    std::mt19937_64 random(test::first_seed());
    Team team{3};
    for (int round = 0; round < 300; ++round) {
        const auto end = std::chrono::steady_clock::now() +
                         std::chrono::nanoseconds(20'000 + random() % 100'000);
        while (std::chrono::steady_clock::now() < end) {
        }
        std::atomic<int> inside{0};
        parallel_for(team, 0, 3,
                     [&inside](std::size_t) {
                         ++inside;
                         while (inside != 3) std::this_thread::yield();
                     },
                     {.schedule = Schedule::dynamic});
        ASSERT_EQ(inside, 3);
    }
}

TEST(ParallelFor, IsRunManyTimesAndByManyThreads) {
    Team team{3};
    std::vector<std::thread> threads;
    std::atomic<std::uint64_t> total{0};
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int round = 0; round < 300; ++round) {
                std::atomic<std::uint64_t> sum{0};
                parallel_for(team, 0, 100, [&](std::size_t i) { sum += i; });
                total += sum;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(total, 4U * 300U * 4950U);
}

/// More loops at once than there are places for.
TEST(ParallelFor, StandsInAnother) {
    Team team{4};
    std::atomic<std::uint64_t> turns{0};
    parallel_for(team, 0, 6, [&](std::size_t) {
        parallel_for(team, 0, 6, [&](std::size_t) {
            parallel_for(team, 0, 6, [&](std::size_t) {
                parallel_for(team, 0, 6, [&](std::size_t) { ++turns; });
            });
        });
    });
    EXPECT_EQ(turns, 6U * 6U * 6U * 6U);
}

TEST(ParallelFor, CarriesWhatATurnThrows) {
    Team team{3};
    for (int round = 0; round < 50; ++round) {
        std::atomic<int> turns{0};
        try {
            parallel_for(team, 0, 10'000, [&](std::size_t i) {
                ++turns;
                if (i == 700) throw std::runtime_error("turn 700");
            });
            FAIL() << "nothing was thrown";
        } catch (const std::runtime_error& error) {
            EXPECT_EQ(std::string(error.what()), "turn 700");
        }
        EXPECT_LE(turns, 10'000);
    }
    std::atomic<int> turns{0};
    parallel_for(team, 0, 100, [&](std::size_t) { ++turns; });
    EXPECT_EQ(turns, 100) << "the team goes on";
}

TEST(ParallelMap, PutsEachResultInItsPlace) {
    Team team{3};
    std::vector<std::uint64_t> in(5'000);
    std::iota(in.begin(), in.end(), 0U);
    std::vector<std::string> out(in.size());
    parallel_map(team, in.begin(), in.end(), out.begin(),
                 [](std::uint64_t n) { return std::to_string(n * n); });
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], std::to_string(i * i));
}

TEST(ParallelReduce, CombinesInTheOrderOfTheRange) {
    const auto letter = [](std::size_t i) {
        return std::string(1, static_cast<char>('a' + i % 26));
    };
    for (const std::size_t threads : {1U, 2U, 5U}) {
        Team team{threads};
        for (const std::size_t size : {0U, 1U, 255U, 256U, 257U, 3'000U}) {
            std::string expected = ">";
            for (std::size_t i = 0; i < size; ++i) expected += letter(i);
            EXPECT_EQ(parallel_reduce(team, 0, size, std::string(">"), letter, std::plus<>{}),
                      expected);
        }
    }
}

/// A sum that rounds is the same to the last bit with any number of threads.
TEST(ParallelReduce, DoesNotDependOnTheNumberOfThreads) {
    std::mt19937_64 random(test::first_seed());
    std::vector<double> values(100'000);
    for (double& value : values)
        value =
            std::ldexp(static_cast<double>(random() >> 12U), static_cast<int>(random() % 80) - 90);
    const auto sum_by = [&](std::size_t threads) {
        Team team{threads};
        return parallel_reduce(
            team, 0, values.size(), 0.0, [&](std::size_t i) { return values[i]; }, std::plus<>{});
    };
    const double alone = sum_by(1);
    EXPECT_NEAR(alone, std::accumulate(values.begin(), values.end(), 0.0), alone * 1e-12);
    for (const std::size_t threads : {2U, 3U, 7U}) EXPECT_EQ(sum_by(threads), alone);
    Team team{3};
    for (const Schedule schedule : schedules) {
        EXPECT_EQ(
            parallel_reduce(team, 0, values.size(), 0.0, [&](std::size_t i) { return values[i]; },
                            std::plus<>{}, {.iterations_min = 1'000, .schedule = schedule}),
            alone);
    }
}

using Numbers = std::vector<std::uint32_t>;

Numbers sorted_by(Team& team, Numbers numbers, std::size_t small) {
    return divide_and_conquer(
        team, std::move(numbers), [small](const Numbers& n) { return n.size() <= small; },
        [](Numbers n) {
            std::sort(n.begin(), n.end());
            return n;
        },
        [](Numbers n) {
            const auto half = n.begin() + static_cast<std::ptrdiff_t>(n.size() / 2);
            return std::vector<Numbers>{Numbers(n.begin(), half), Numbers(half, n.end())};
        },
        [](std::vector<Numbers> halves) {
            Numbers merged;
            std::merge(halves[0].begin(), halves[0].end(), halves[1].begin(), halves[1].end(),
                       std::back_inserter(merged));
            return merged;
        });
}

TEST(DivideAndConquer, SortsByMerging) {
    std::mt19937 random(static_cast<unsigned>(test::first_seed()));
    for (const std::size_t threads : {1U, 2U, 5U}) {
        Team team{threads};
        for (const std::size_t size : {1U, 2U, 3U, 100U, 20'000U}) {
            Numbers numbers(size);
            for (auto& number : numbers) number = static_cast<std::uint32_t>(random());
            Numbers expected = numbers;
            std::sort(expected.begin(), expected.end());
            EXPECT_EQ(sorted_by(team, numbers, 1 + size / 300), expected);
            if (size > 100) continue;
            EXPECT_EQ(sorted_by(team, numbers, 1), expected);
        }
    }
}

/// Parts of very different sizes, and many of them: Fibonacci as it should not be computed.
TEST(DivideAndConquer, DividesUnevenly) {
    for (const std::size_t threads : {1U, 2U, 4U}) {
        Team team{threads};
        const auto fibonacci = divide_and_conquer(
            team, 21U, [](unsigned n) { return n < 2; }, [](unsigned n) { return n; },
            [](unsigned n) {
                return std::vector<unsigned>{n - 1, n - 2};
            },
            [](const std::vector<unsigned>& parts) { return parts[0] + parts[1]; });
        EXPECT_EQ(fibonacci, 10'946U);
    }
}

TEST(DivideAndConquer, CarriesWhatAFunctionThrows) {
    Team team{3};
    EXPECT_THROW((void)divide_and_conquer(
                     team, 12U, [](unsigned n) { return n < 2; },
                     [](unsigned n) {
                         if (n == 0) throw std::runtime_error("zero");
                         return n;
                     },
                     [](unsigned n) {
                         return std::vector<unsigned>{n - 1, n - 2};
                     },
                     [](const std::vector<unsigned>& parts) { return parts[0] + parts[1]; }),
                 std::runtime_error);
}

TEST(ParallelInvoke, CallsAll) {
    Team team{2};
    std::atomic<int> calls{0};
    parallel_invoke(
        team, [&] { calls += 1; }, [&] { calls += 10; }, [&] { calls += 100; });
    EXPECT_EQ(calls, 111);
}

}  // namespace
}  // namespace strid::pattern
