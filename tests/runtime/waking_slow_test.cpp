// SPDX-License-Identifier: Apache-2.0
//
// The cost and the time of sleeping and waking: an idle execution costs nothing, a woken one reacts
// soon, timers are punctual, few threads are awake with little work and all with much. The limits
// are generous, because a test machine is shared; bench/ measures the times.
#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include <gtest/gtest.h>

#include <strid/base/clock.hpp>

#include "toy_tasks.hpp"

namespace strid::test {
namespace {

using namespace std::chrono_literals;

std::int64_t processor_time_ns() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

std::int64_t median(std::vector<std::int64_t> values) {
    std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
    return values[values.size() / 2];
}

TEST(Waking, AnIdleExecutionUsesNoProcessor) {
    std::vector<std::unique_ptr<FunctionTask>> tasks;
    std::vector<Task*> borrowed;
    for (int i = 0; i < 20; ++i) {
        tasks.push_back(std::make_unique<FunctionTask>("idle", [](FunctionTask& task) {
            return task.stopping ? StepResult::finished : StepResult::waiting;
        }));
        borrowed.push_back(tasks.back().get());
    }
    tasks[3]->blocks = true;
    Execution execution(borrowed, {.workers = 4});
    execution.start();
    std::this_thread::sleep_for(50ms);  // they settle
    const std::int64_t before = processor_time_ns();
    std::this_thread::sleep_for(500ms);
    const std::int64_t used = processor_time_ns() - before;
    execution.stop();
    execution.wait();
    RecordProperty("used_us", static_cast<int>(used / 1000));
    EXPECT_LT(used, 5'000'000);  // 1 %
}

TEST(Waking, FirstAnswerAfterSleepComesSoon) {
    std::atomic<std::int64_t> answered_ns{0};
    FunctionTask task("answers", [&](FunctionTask& self) {
        answered_ns = now_ns();
        return self.stopping ? StepResult::finished : StepResult::waiting;
    });
    Execution execution({&task});
    execution.start();
    std::vector<std::int64_t> latencies;
    for (int i = 0; i < 101; ++i) {
        std::this_thread::sleep_for(2ms);  // it sleeps
        const std::int64_t asked_ns = now_ns();
        task.notify();
        const std::int64_t give_up = asked_ns + 10'000'000'000;
        while (answered_ns < asked_ns && now_ns() < give_up) std::this_thread::sleep_for(20us);
        latencies.push_back(answered_ns - asked_ns);
    }
    execution.stop();
    execution.wait();
    const std::int64_t typical = median(latencies);
    RecordProperty("median_ns", static_cast<int>(typical));
    EXPECT_GT(typical, 0);
    EXPECT_LT(typical, 2'000'000);
}

TEST(Waking, TimersArePunctual) {
    std::vector<std::int64_t> late_ns;
    std::int64_t due_ns = 0;
    FunctionTask timer("timer", [&](FunctionTask& task) {
        const std::int64_t now = now_ns();
        if (due_ns != 0) {
            EXPECT_GE(now, due_ns);
            late_ns.push_back(now - due_ns);
        }
        due_ns = task.wake_at = now + 1'000'000;
        return late_ns.size() < 200 ? StepResult::timed : StepResult::finished;
    });
    FunctionTask other("other", [&](FunctionTask& task) {
        return task.stopping ? StepResult::finished : StepResult::waiting;
    });
    Execution execution({&timer, &other}, {.workers = 2});
    execution.start();
    while (!timer.counters().finished) std::this_thread::sleep_for(1ms);
    execution.stop();
    execution.wait();
    RecordProperty("median_ns", static_cast<int>(median(late_ns)));
    EXPECT_LT(median(late_ns), 1'000'000);
}

// A slow stream through three tasks with their homes on two workers. One worker does it all, except
// when the machine delays it: a worker that lost its core is late, and the other helps. A step that
// takes long now and then does not make every step wake another worker.
TEST(Waking, LowRateNeedsOneWorker) {
    Ring ring_a(256);
    Ring ring_b(256);
    std::vector<std::unique_ptr<FunctionTask>> tasks;
    std::uint64_t received = 0;
    const std::uint64_t count = 200;
    std::uint64_t emitted = 0;
    std::uint64_t late = 0;
    std::array<std::uint64_t, 2> found_together{};  // by the relay and by the sink, but the first
    tasks.push_back(std::make_unique<FunctionTask>("source", [&](FunctionTask& task) {
        const std::int64_t now = now_ns();
        if (now - task.wake_at > 200'000) ++late;
        static_cast<void>(ring_a.try_push(++emitted));
        if (emitted % 50 == 0) std::this_thread::sleep_for(5ms);
        tasks[1]->notify();
        task.wake_at = now + 500'000;
        return emitted < count ? StepResult::timed : StepResult::finished;
    }));
    tasks.push_back(std::make_unique<FunctionTask>("relay", [&](FunctionTask&) {
        std::uint64_t value = 0;
        for (bool first = true; ring_a.try_pop(value) == channel::PopResult::ok; first = false) {
            if (!first) ++found_together[0];
            static_cast<void>(ring_b.try_push(value));
            tasks[2]->notify();
            if (value == count) return StepResult::finished;
        }
        return StepResult::waiting;
    }));
    tasks.push_back(std::make_unique<FunctionTask>("sink", [&](FunctionTask&) {
        std::uint64_t value = 0;
        for (bool first = true; ring_b.try_pop(value) == channel::PopResult::ok; first = false) {
            if (!first) ++found_together[1];
            received = value;
        }
        return received == count ? StepResult::finished : StepResult::waiting;
    }));
    Execution execution({tasks[0].get(), tasks[1].get(), tasks[2].get()}, {.workers = 2});
    execution.start();
    execution.wait();
    const auto workers = execution.snapshot().workers;
    EXPECT_EQ(received, count);
    const std::uint64_t most = std::max(workers[0].steps, workers[1].steps);
    const std::uint64_t least = std::min(workers[0].steps, workers[1].steps);
    // Three steps a record, except for those that a worker which had lost its core found together;
    // on one worker, except at the start and for the delays of a busy machine.
    EXPECT_GE(most + least + found_together[0] + found_together[1], 3 * count);
    const std::uint64_t allowed = count / 4 + 6 * late;  // a late record and what it holds up
    EXPECT_LE(least, allowed);
    const std::uint64_t parks_of_idle =
        workers[0].steps < workers[1].steps ? workers[0].parks : workers[1].parks;
    EXPECT_LE(parks_of_idle, allowed);
}

// Much work for tasks that have their home on one worker: the others take it.
TEST(Waking, HighLoadWakesEveryWorker) {
    std::vector<std::unique_ptr<FunctionTask>> tasks;
    std::vector<Task*> borrowed;
    std::atomic<bool> begin{false};
    for (int i = 0; i < 8; ++i) {
        tasks.push_back(std::make_unique<FunctionTask>("busy", [&](FunctionTask& task) {
            if (task.stopping) return StepResult::finished;
            if (!begin) return StepResult::waiting;
            const std::int64_t until = now_ns() + 20'000;
            while (now_ns() < until) {
            }
            return StepResult::progressed;
        }));
        borrowed.push_back(tasks.back().get());
    }
    Execution execution(borrowed, {.workers = 4});
    execution.start();
    std::this_thread::sleep_for(10ms);  // all asleep
    begin = true;
    for (int i = 0; i < 2; ++i) tasks[static_cast<std::size_t>(i)]->notify();  // home: worker 0
    tasks[7]->notify();                                                        // home: worker 3
    tasks[2]->notify();
    const auto everybody_works = [&] {
        const auto workers = execution.snapshot().workers;
        return std::all_of(workers.begin(), workers.end(),
                           [](const auto& worker) { return worker.steps > 20; });
    };
    const std::int64_t give_up = now_ns() + 10'000'000'000;
    while (!everybody_works() && now_ns() < give_up) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(everybody_works());
    execution.stop();
    execution.wait();
}

// Two tasks with homes on two workers, both asleep. The first notifies the second and steps on
// until that is over; the second takes more than one step. Returns the time that the first takes.
std::int64_t time_of_a_task_that_goes_on() {
    std::atomic<bool> begin{false};
    std::atomic<std::uint64_t> steps_of_second{0};
    std::unique_ptr<FunctionTask> second;
    FunctionTask first("first", [&](FunctionTask&) {
        if (!begin) return StepResult::waiting;
        if (steps_of_second == 0) second->notify();
        return steps_of_second == 2 ? StepResult::finished : StepResult::progressed;
    });
    second = std::make_unique<FunctionTask>("second", [&](FunctionTask&) {
        if (!begin) return StepResult::waiting;
        return ++steps_of_second == 2 ? StepResult::finished : StepResult::progressed;
    });
    Execution execution({&first, second.get()}, {.workers = 2});
    execution.start();
    std::this_thread::sleep_for(5ms);  // both asleep
    begin = true;
    const std::int64_t began_ns = now_ns();
    first.notify();
    execution.wait();
    return now_ns() - began_ns;
}

// The worker that took a step of the sleeper's task and then went back to its own wakes the
// sleeper. It did not always: the other task then waited until the worker was held up.
TEST(Waking, NoTaskWaitsForAWorkerThatGoesOnWithOneTask) {
    std::vector<std::int64_t> times;
    for (int round = 0; round < 15; ++round) times.push_back(time_of_a_task_that_goes_on());
    EXPECT_LT(median(times), 10'000'000);
}

}  // namespace
}  // namespace strid::test
