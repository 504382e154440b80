// SPDX-License-Identifier: Apache-2.0
//
// Graphs of tasks against the sequential program: random uses of data, tasks that are declared
// first, failures, cycles, bounds, graphs in graphs, several at once.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <strid/base/error.hpp>
#include <strid/pattern/parallel_for.hpp>
#include <strid/pattern/task_graph.hpp>

#include "../support/seeds.hpp"
#include "../support/watchdog.hpp"

namespace strid::pattern {
namespace {

using test::Watchdog;
using testing::HasSubstr;

/// A program: each step reads some data and writes others, all of them plain numbers.
struct Step {
    std::vector<std::size_t> reads;
    std::vector<std::size_t> writes;
    std::uint64_t salt = 0;
};
std::vector<Step> random_program(std::mt19937_64& random, std::size_t steps, std::size_t data) {
    std::vector<Step> program(steps);
    for (Step& step : program) {
        for (std::size_t i = random() % 4; i != 0; --i) step.reads.push_back(random() % data);
        for (std::size_t i = random() % 3; i != 0; --i) step.writes.push_back(random() % data);
        step.salt = random();
    }
    return program;
}
void run_step(const Step& step, std::vector<std::uint64_t>& data) {
    std::uint64_t sum = step.salt;
    for (const std::size_t at : step.reads) sum = sum * 31 + data[at];
    for (const std::size_t at : step.writes) data[at] = data[at] * 7 + sum++;
}
std::vector<TaskUse> uses_of(const Step& step, const std::vector<std::uint64_t>& data) {
    std::vector<TaskUse> uses;
    for (const std::size_t at : step.reads) uses.push_back(reads(data[at])[0]);
    for (const std::size_t at : step.writes) uses.push_back(writes(data[at])[0]);
    return uses;
}

/// The values are those of the sequential program; the thread sanitizer sees any order that lacks.
TEST(TaskGraph, HasTheValuesOfTheSequentialProgram) {
    const Watchdog watchdog;
    for (const std::uint64_t seed : test::seeds(12)) {
        std::mt19937_64 random(seed);
        const std::size_t data_count = 1 + random() % 40;
        const auto program = random_program(random, 800, data_count);
        std::vector<std::uint64_t> expected(data_count);
        for (const Step& step : program) run_step(step, expected);
        Team team(1 + seed % 5);
        TaskGraph graph(team, {.open_tasks_max = 1 + random() % 200});
        std::vector<std::uint64_t> data(data_count);
        const std::size_t wait_after = random() % program.size();
        for (std::size_t i = 0; i < program.size(); ++i) {
            graph.task([&data, &step = program[i]] { run_step(step, data); },
                       uses_of(program[i], data));
            if (i == wait_after) graph.wait();
        }
        graph.wait();
        ASSERT_EQ(data, expected) << "seed " << seed;
    }
}

/// By order alone: each task is after random earlier ones, some of which are defined last.
TEST(TaskGraph, KeepsTheOrderThatIsGiven) {
    const Watchdog watchdog;
    for (const std::uint64_t seed : test::seeds(8)) {
        std::mt19937_64 random(seed);
        Team team(2 + seed % 3);
        TaskGraph graph(team);
        constexpr std::size_t count = 300;
        std::vector<std::atomic<int>> ended(count);
        std::atomic<int> too_early{0};
        std::vector<GraphTask> tasks(count);
        std::vector<std::vector<std::size_t>> before(count);
        const auto function = [&](std::size_t i) {
            return [&, i] {
                for (const std::size_t other : before[i]) too_early += ended[other] != 1;
                ++ended[i];
            };
        };
        const auto order = [&](std::size_t i) {
            std::vector<TaskUse> uses;
            for (const std::size_t other : before[i]) uses.push_back(after(tasks[other])[0]);
            return uses;
        };
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t n = random() % 4; n != 0 && i != 0; --n)
                before[i].push_back(random() % i);
            tasks[i] = i % 3 == 0 ? graph.declare("late " + std::to_string(i))
                                  : graph.task(function(i), order(i));
        }
        for (std::size_t i = (count - 1) / 3 * 3; true; i -= 3) {
            graph.define(tasks[i], function(i), order(i));
            if (i == 0) break;
        }
        graph.wait();
        EXPECT_EQ(too_early, 0);
        for (const auto& one : ended) ASSERT_EQ(one, 1);
    }
}

/// Readers of a datum are in their functions at once.
TEST(TaskGraph, ReadersRunAtOnce) {
    const Watchdog watchdog;
    Team team(3);
    TaskGraph graph(team);
    int datum = 0;
    std::atomic<int> inside{0};
    graph.task([&] { datum = 1; }, writes(datum));
    for (int i = 0; i < 3; ++i) {
        graph.task(
            [&] {
                ++inside;
                while (inside != 3) std::this_thread::yield();
            },
            reads(datum));
    }
    graph.wait();
    EXPECT_EQ(inside, 3);
}

TEST(TaskGraph, FailureNamesTheTaskAndDropsThoseBehind) {
    const Watchdog watchdog;
    for (const std::size_t threads : {1U, 3U}) {
        Team team(threads);
        TaskGraph graph(team, {.open_tasks_max = 50});
        int datum = 0;
        bool behind = false;
        graph.task(
            "load", [&] { throw std::runtime_error("no file"); }, writes(datum));
        try {
            graph.task([&] { behind = true; }, reads(datum));
            (void)graph.declare("never defined");
            while (true) graph.task([] {});  // until the failure is known
        } catch (const OperatorError& error) {
            EXPECT_EQ(error.operator_name(), "load");
            EXPECT_THAT(error.what(), HasSubstr("no file"));
            EXPECT_THROW(std::rethrow_exception(error.cause()), std::runtime_error);
        }
        EXPECT_THROW(graph.wait(), OperatorError) << "again, and what was declared is dropped";
        EXPECT_FALSE(behind);
        graph.task([&] { datum = 7; }, writes(datum));
        graph.wait();
        EXPECT_EQ(datum, 7) << "the graph goes on";
        graph.task([] { throw std::logic_error("of a task without a name"); });
        try {
            graph.wait();
            FAIL();
        } catch (const OperatorError& error) {
            EXPECT_THAT(error.operator_name(), HasSubstr("task "));
        }
    }
}

TEST(TaskGraph, CycleIsAnErrorThatNamesIt) {
    Team team(2);
    TaskGraph graph(team);
    int datum = 0;
    const GraphTask a = graph.declare("a");
    const GraphTask b = graph.task(
        "b", [&] { datum += 1; }, after(a), writes(datum));
    const GraphTask c = graph.task(
        "c", [&] { datum *= 10; }, writes(datum));
    const auto error_of = [&](const auto& action) -> std::string {
        try {
            action();
        } catch (const GraphError& error) {
            return error.what();
        }
        return "none";
    };
    EXPECT_EQ(error_of([&] {
                  graph.define(
                      a, [] {}, after(c));
              }),
              "task 'a' would wait for itself: 'a' before 'b' before 'c' before 'a'");
    EXPECT_EQ(error_of([&] {
                  graph.define(
                      a, [] {}, reads(datum));
              }),
              "task 'a' would wait for itself: 'a' before 'b' before 'c' before 'a'");
    EXPECT_EQ(error_of([&] {
                  graph.define(
                      a, [] {}, after(a));
              }),
              "task 'a' would wait for itself: 'a' before 'a'");
    EXPECT_THAT(error_of([&] { graph.wait(); }), HasSubstr("not defined is 'a'"));
    EXPECT_THAT(error_of([&] { graph.define(b, [] {}); }), HasSubstr("'b' is defined already"));
    graph.define(a, [&] { datum = 4; });
    graph.wait();
    EXPECT_EQ(datum, 50);
    EXPECT_THAT(error_of([&] { graph.define(a, [] {}); }), HasSubstr("defined already"));
    TaskGraph other(team);
    EXPECT_THAT(error_of([&] { other.task([] {}, after(b)); }), HasSubstr("not of this graph"));
    EXPECT_THAT(error_of([&] { other.task([] {}, after(GraphTask())); }), HasSubstr("not of"));
    EXPECT_THAT(error_of([&] { other.define(b, [] {}); }), HasSubstr("this graph declared"));
    EXPECT_THAT(error_of([&] { TaskGraph none(team, {.open_tasks_max = 0}); }), HasSubstr("room"));
}

TEST(TaskGraph, FullOfTasksThatWaitForADeclaredOneIsAnError) {
    Team team(2);
    TaskGraph graph(team, {.open_tasks_max = 4});
    int datum = 0;
    const GraphTask first = graph.declare("first");
    for (int i = 0; i < 3; ++i) graph.task([&] { ++datum; }, after(first), writes(datum));
    try {
        graph.task([] {});
        FAIL();
    } catch (const GraphError& error) {
        EXPECT_THAT(error.what(), HasSubstr("its 4 open tasks wait for 'first'"));
    }
    graph.define(first, [&] { datum = 10; });
    for (int i = 0; i < 100; ++i) graph.task([&] { ++datum; }, writes(datum));
    graph.wait();
    EXPECT_EQ(datum, 113);
}

TEST(TaskGraph, IsBounded) {
    const Watchdog watchdog;
    for (const std::size_t threads : {1U, 2U, 4U}) {
        Team team(threads);
        TaskGraph graph(team, {.open_tasks_max = 5});
        std::uint64_t sum = 0;
        std::size_t most = 0;
        for (std::uint64_t i = 0; i < 4'000; ++i) {
            graph.task([&sum, i] { sum += i; }, writes(sum));
            most = std::max(most, graph.open_tasks());
        }
        graph.wait();
        EXPECT_EQ(sum, 4'000U * 3'999U / 2);
        EXPECT_LE(most, 5U);
    }
}

/// Two threads wait for room, and two tasks end at once: both get it, though the one that is first
/// ends only after the other.
TEST(TaskGraph, EachThreadThatWaitsForRoomGetsIt) {
    const Watchdog watchdog;
    Team team(3);
    for (int round = 0; round < 100; ++round) {
        TaskGraph graph(team, {.open_tasks_max = 2});
        std::atomic<bool> go{false};
        std::atomic<int> added{0};
        const auto hold = [&go] {
            while (!go) std::this_thread::yield();
        };
        graph.task(hold);
        graph.task(hold);
        const auto add = [&] {
            const GraphTask late = graph.declare("late");
            ++added;
            while (added != 2) std::this_thread::yield();
            graph.define(late, [] {});
        };
        std::thread one(add);
        std::thread other(add);
        std::this_thread::sleep_for(std::chrono::microseconds(500));
        go = true;
        one.join();
        other.join();
        graph.wait();
    }
}

TEST(TaskGraph, AddingAndWaitingInItsOwnTasksIsAnError) {
    Team team(2);
    TaskGraph graph(team);
    graph.task("adds", [&] { graph.task([] {}); });
    EXPECT_THROW(graph.wait(), OperatorError);
    graph.task("waits", [&] { graph.wait(); });
    try {
        graph.wait();
        FAIL();
    } catch (const OperatorError& error) {
        EXPECT_THAT(error.what(), HasSubstr("graph that it is part of"));
    }
}

/// Graphs and loops in tasks, on the threads of one team; more graphs than a team has places.
TEST(TaskGraph, StandsInAnother) {
    const Watchdog watchdog;
    for (const std::size_t threads : {1U, 2U, 4U}) {
        Team team(threads);
        std::vector<std::uint64_t> sums(100);
        TaskGraph outer(team, {.open_tasks_max = 200});
        for (std::size_t i = 0; i < sums.size(); ++i) {
            outer.task(
                [&team, &sum = sums[i], i] {
                    std::uint64_t of_loop = 0;
                    std::uint64_t of_sum = 0;
                    TaskGraph inner(team);
                    inner.task(
                        [&] {
                            of_loop = parallel_reduce(
                                team, 0, 200, std::uint64_t{0},
                                [i](std::size_t k) { return k * i; }, std::plus<>{});
                        },
                        writes(of_loop));
                    for (std::uint64_t k = 0; k < 20; ++k) {
                        inner.task([&of_sum, k] { of_sum += k; }, writes(of_sum));
                    }
                    inner.task([&] { sum = of_loop + of_sum; }, reads(of_loop, of_sum),
                               writes(sum));
                    inner.wait();
                },
                writes(sums[i]));
        }
        outer.wait();
        for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], 199U * 100U * i + 190U);
    }
}

TEST(TaskGraph, SeveralAtOnceShareATeam) {
    const Watchdog watchdog;
    Team team(3);
    std::vector<std::uint64_t> results(6);
    std::vector<std::thread> threads;
    for (std::uint64_t& result : results) {
        threads.emplace_back([&] {
            for (int round = 0; round < 20; ++round) {
                TaskGraph graph(team, {.open_tasks_max = 16});
                for (int i = 0; i < 100; ++i) graph.task([&result] { ++result; }, writes(result));
                if (round % 2 == 0) graph.wait();
                graph.wait();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::uint64_t result : results) EXPECT_EQ(result, 2'000U);
}

/// Tasks own what they hold, also large objects and those that cannot be copied.
TEST(TaskGraph, DestroysWhatTasksHold) {
    const Watchdog watchdog;
    const auto counted = std::make_shared<int>(0);
    Team team(2);
    {
        TaskGraph graph(team);
        std::atomic<bool> go{false};
        graph.task(
            [&go] {
                while (!go) std::this_thread::yield();
            },
            writes(*counted));
        for (int i = 0; i < 50; ++i) {
            graph.task([counted, large = std::array<std::uint64_t, 20>{},
                        own = std::make_unique<int>(i)] { *counted += *own + int(large[0]); },
                       writes(*counted));
        }
        EXPECT_GT(counted.use_count(), 50);
        if (test::first_seed() % 2 == 0) graph.cancel();
        go = true;
        graph.cancel();
    }
    EXPECT_EQ(counted.use_count(), 1);
    TaskGraph graph(team);
    graph.cancel();
    graph.task([counted] { *counted = -1; });
    graph.wait();
    EXPECT_NE(*counted, -1) << "dropped";
    graph.task([counted] { *counted = -2; });
    graph.wait();
    EXPECT_EQ(*counted, -2);
}

/// Data that are used once are forgotten: an entry for each of these would take some 5 MB.
TEST(TaskGraph, ForgetsDataOfTasksThatHaveEnded) {
    Team team(2);
    TaskGraph graph(team, {.open_tasks_max = 64});
    std::vector<char> data(50'000);
    const std::size_t before = mallinfo2().uordblks;
    for (char& one : data) graph.task([&one] { one = 1; }, writes(one), reads(data));
    graph.wait();
    EXPECT_LT(mallinfo2().uordblks, before + 1'500'000);
    EXPECT_EQ(std::accumulate(data.begin(), data.end(), 0L), 50'000);
}

}  // namespace
}  // namespace strid::pattern
