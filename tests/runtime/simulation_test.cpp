// SPDX-License-Identifier: Apache-2.0
//
// The simulation: right answers under every seed, the same steps for the same seed, other steps
// for another, hostile orders that do occur, and deadlocks that are named.
#include <set>

#include <gtest/gtest.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>

#include "toy_tasks.hpp"

namespace strid::test {
namespace {

constexpr auto simulation = ExecutionOptions::Mode::simulation;

std::vector<std::size_t> trace_of(std::uint64_t seed) {
    Chain chain(4, 40, 2);
    std::vector<std::size_t> trace;
    chain.before_step = [&](std::size_t i) { trace.push_back(i); };
    Execution execution(chain.tasks(), {.mode = simulation, .seed = seed});
    execution.start();
    execution.wait();
    EXPECT_EQ(chain.received(), 40U);
    EXPECT_TRUE(chain.in_order());
    return trace;
}

TEST(Simulation, ReplaysASeedAndDiffersBetweenSeeds) {
    std::set<std::vector<std::size_t>> traces;
    const std::uint64_t seeds = 10 * effort;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const std::vector<std::size_t> trace = trace_of(seed);
        EXPECT_EQ(trace, trace_of(seed)) << "seed " << seed;
        traces.insert(trace);
    }
    EXPECT_EQ(traces.size(), seeds);
}

TEST(Simulation, StepsTasksThatHaveNothingToDo) {
    std::uint64_t spurious = 0;
    FunctionTask sleeper("sleeper", [&](FunctionTask& task) {
        if (task.work.exchange(false)) return StepResult::finished;
        ++spurious;
        return StepResult::waiting;
    });
    std::uint64_t steps = 0;
    FunctionTask worker("worker", [&](FunctionTask&) {
        if (++steps < 1000) return StepResult::progressed;
        sleeper.work = true;
        sleeper.notify();
        return StepResult::finished;
    });
    Execution execution({&worker, &sleeper}, {.mode = simulation, .seed = 3});
    execution.start();
    execution.wait();
    EXPECT_GT(spurious, 10U);
    EXPECT_LT(spurious, 500U);
}

TEST(Simulation, RunsTimedTasksWithoutWaiting) {
    int steps = 0;
    FunctionTask clock("clock", [&](FunctionTask& task) {
        task.wake_at = now_ns() + 3'600'000'000'000;  // an hour
        return ++steps < 100 ? StepResult::timed : StepResult::finished;
    });
    Execution execution({&clock}, {.mode = simulation, .seed = 1});
    execution.start();
    execution.wait();
    EXPECT_EQ(steps, 100);
}

TEST(Simulation, NamesTheTasksOfADeadlock) {
    FunctionTask fork("fork waits for knife", [](FunctionTask&) { return StepResult::waiting; });
    FunctionTask knife("knife waits for fork", [](FunctionTask&) { return StepResult::waiting; });
    FunctionTask guest("guest", [](FunctionTask&) { return StepResult::finished; });
    Execution execution({&fork, &knife, &guest}, {.mode = simulation, .seed = 42});
    execution.start();
    try {
        execution.wait();
        FAIL();
    } catch (const Error& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find("42"), std::string::npos) << what;
        EXPECT_NE(what.find(fork.name()), std::string::npos) << what;
        EXPECT_NE(what.find(knife.name()), std::string::npos) << what;
        EXPECT_EQ(what.find(guest.name()), std::string::npos) << what;
    }
}

TEST(Simulation, FindsALostNotification) {
    // A consumer that returns `waiting` and does not check again: whether that hangs depends on the
    // order of steps, and the simulation finds an order in which it does.
    int failures = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Ring ring(2);
        std::unique_ptr<FunctionTask> consumer;
        std::uint64_t emitted = 0;
        FunctionTask producer("producer", [&](FunctionTask&) {
            if (ring.try_push(1U) != channel::PushResult::ok) return StepResult::waiting;
            if (emitted % 2 == 0) consumer->notify();  // forgets every second one
            return ++emitted < 5 ? StepResult::progressed : StepResult::finished;
        });
        std::uint64_t received = 0;
        consumer = std::make_unique<FunctionTask>("consumer", [&](FunctionTask&) {
            std::uint64_t value = 0;
            if (ring.try_pop(value) != channel::PopResult::ok) return StepResult::waiting;
            producer.notify();
            return ++received < 5 ? StepResult::waiting : StepResult::finished;
        });
        Execution execution({&producer, consumer.get()}, {.mode = simulation, .seed = seed});
        execution.start();
        try {
            execution.wait();
        } catch (const Error&) {
            ++failures;
        }
    }
    EXPECT_GT(failures, 5);
}

TEST(Simulation, WaitsForTasksThatAreNotifiedFromOutside) {
    std::atomic<int> pushed{0};
    std::atomic<int> seen{0};
    FunctionTask inlet("inlet", [&](FunctionTask&) {
        seen = pushed.load();
        return seen == 20 ? StepResult::finished : StepResult::waiting;
    });
    inlet.outside = true;
    Execution execution({&inlet}, {.mode = simulation, .seed = 5});
    execution.start();
    for (int i = 0; i < 20; ++i) {
        while (seen != i) std::this_thread::yield();  // it waits for the next one
        ++pushed;
        inlet.notify();
    }
    execution.wait();
    EXPECT_EQ(seen, 20);
}

}  // namespace
}  // namespace strid::test
