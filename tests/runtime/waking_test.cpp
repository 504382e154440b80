// SPDX-License-Identifier: Apache-2.0
//
// Sleeping and waking of real threads: nothing is lost under stress, and a notification comes
// before the timer. waking_slow_test.cpp measures their time.
#include <array>
#include <chrono>
#include <random>

#include <gtest/gtest.h>

#include <strid/base/clock.hpp>

#include "../support/seeds.hpp"
#include "toy_tasks.hpp"

namespace strid::test {
namespace {

using namespace std::chrono_literals;

void wait_until(const std::atomic<std::uint64_t>& counter, std::uint64_t value) {
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    while (counter.load() < value) {
        ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "lost wake-up";
        std::this_thread::yield();
    }
}

class WakingInEveryMode : public testing::TestWithParam<NamedOptions> {};

INSTANTIATE_TEST_SUITE_P(Waking, WakingInEveryMode, testing::ValuesIn(every_mode()),
                         [](const auto& param) { return param.param.name; });

// Each round is a chance to lose the one notification that counts: two tasks pass it on, an outside
// thread waits for the result, with pauses around the time it takes to fall asleep.
TEST_P(WakingInEveryMode, NoNotificationIsLost) {
    const std::uint64_t seed = first_seed();
    RecordProperty("seed", std::to_string(seed));
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    std::atomic<std::uint64_t> asked{0};
    std::atomic<std::uint64_t> relayed{0};
    std::atomic<std::uint64_t> answered{0};
    FunctionTask second("second", [&](FunctionTask& task) {
        answered = relayed.load();
        return task.stopping ? StepResult::finished : StepResult::waiting;
    });
    FunctionTask first("first", [&](FunctionTask& task) {
        relayed = asked.load();
        second.notify();
        return task.stopping ? StepResult::finished : StepResult::waiting;
    });
    first.outside = second.outside = true;
    Execution execution({&first, &second}, GetParam().options);
    execution.start();
    // Threads that spin wait for each other's time slices on a busy machine.
    const bool spins = GetParam().options.waiting == ExecutionOptions::Waiting::spin;
    const std::uint64_t rounds = spins ? effort : 100 * effort;
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        const std::int64_t until = now_ns() + static_cast<std::int64_t>(random() % 60'000);
        while (now_ns() < until) std::this_thread::yield();
        asked = round;
        first.notify();
        wait_until(answered, round);
        if (HasFatalFailure()) break;
    }
    execution.stop();
    execution.wait();
    EXPECT_FALSE(first.overlapped());
    EXPECT_FALSE(second.overlapped());
}

// Many threads notify many tasks at random; every task must have seen everything at the end.
TEST_P(WakingInEveryMode, StormOfNotifications) {
    const std::uint64_t seed = first_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    constexpr std::size_t count = 9;
    std::array<std::atomic<std::uint64_t>, count> published{};
    std::array<std::atomic<std::uint64_t>, count> seen{};
    std::vector<std::unique_ptr<FunctionTask>> tasks;
    std::vector<Task*> borrowed;
    for (std::size_t i = 0; i < count; ++i) {
        tasks.push_back(
            std::make_unique<FunctionTask>("task" + std::to_string(i), [&, i](FunctionTask& task) {
                const std::uint64_t before = seen[i].exchange(published[i]);
                const std::size_t next = i + 1;
                if (next < count && seen[i] != before) {
                    ++published[next];
                    tasks[next]->notify();
                }
                return task.stopping ? StepResult::finished : StepResult::waiting;
            }));
        tasks.back()->outside = true;
        borrowed.push_back(tasks.back().get());
    }
    Execution execution(borrowed, GetParam().options);
    execution.start();
    std::vector<std::thread> notifiers;
    for (std::uint64_t n = 0; n < 3; ++n) {
        notifiers.emplace_back([&, n] {
            std::mt19937_64 random(seed + n);
            for (std::uint64_t i = 0; i < 200 * effort; ++i) {
                const std::size_t task = random() % count;
                ++published[task];
                tasks[task]->notify();
                if (random() % 8 == 0) std::this_thread::sleep_for(30us);
            }
        });
    }
    for (std::thread& notifier : notifiers) notifier.join();
    for (std::size_t i = 0; i < count; ++i) wait_until(seen[i], published[i]);
    execution.stop();
    execution.wait();
    for (const auto& task : tasks) EXPECT_FALSE(task->overlapped());
}

// A timed task that is notified runs early, and then again at its new time. The timers that must
// not fire are 24 hours ahead.
TEST(Waking, NotificationComesBeforeTheTimer) {
    constexpr std::int64_t never = 24 * 3'600'000'000'000;
    std::atomic<std::uint64_t> steps{0};
    std::atomic<bool> notified{false};
    FunctionTask task("timed", [&](FunctionTask& self) {
        ++steps;
        EXPECT_TRUE(steps == 1 || notified) << "the timer of the first step fired";
        self.wake_at = now_ns() + (steps == 2 ? 1'000'000 : never);
        return steps < 3 ? StepResult::timed : StepResult::finished;
    });
    Execution execution({&task});
    execution.start();
    wait_until(steps, 1);
    notified = true;
    task.notify();
    execution.wait();  // hangs if the timer of the second step is lost
    EXPECT_EQ(steps, 3U);
}

// The first task makes two others ready. One is in a long step, of unknown length before, until the
// other has been stepped by the second worker, which sleeps.
TEST(Waking, FirstLongStepKeepsNoReadyTaskWaiting) {
    for (int round = 0; round < 20; ++round) {
        std::atomic<bool> begun{false};
        std::atomic<bool> other_stepped{false};
        std::atomic<bool> kept_waiting{false};
        const auto end_of = [](FunctionTask& task) {
            return task.stopping ? StepResult::finished : StepResult::waiting;
        };
        FunctionTask other("other", [&](FunctionTask& task) {
            if (begun) other_stepped = true;
            return end_of(task);
        });
        FunctionTask takes_long("takes long", [&](FunctionTask& task) {
            const auto give_up = std::chrono::steady_clock::now() + 2s;
            while (begun && !other_stepped && !kept_waiting) {
                if (std::chrono::steady_clock::now() > give_up) kept_waiting = true;
                std::this_thread::yield();
            }
            return end_of(task);
        });
        FunctionTask first("first", [&](FunctionTask& task) {
            if (begun) {
                other.notify();
                takes_long.notify();
            }
            return end_of(task);
        });
        first.outside = other.outside = takes_long.outside = true;
        Execution execution({&first, &other, &takes_long}, {.workers = 2});
        execution.start();
        std::this_thread::sleep_for(5ms);  // all have been stepped, and both workers sleep
        begun = true;
        first.notify();
        const auto give_up = std::chrono::steady_clock::now() + 20s;
        while (!other_stepped && std::chrono::steady_clock::now() < give_up) {
            std::this_thread::yield();
        }
        execution.stop();
        execution.wait();
        ASSERT_FALSE(kept_waiting) << "round " << round;
    }
}

}  // namespace
}  // namespace strid::test
