// SPDX-License-Identifier: Apache-2.0
//
// The life of an execution, in every mode: it runs to the end, stops, is cancelled, or never runs.
// The oracle for the numbers that flow is arithmetic: 1 + 2 + ... + n, in order, none lost.
#include <array>
#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include <strid/base/error.hpp>

#include "toy_tasks.hpp"

namespace strid::test {
namespace {

std::size_t threads_of_process() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

// A sanitizer starts its own thread beside the first one of the program: it does not count.
std::size_t threads_before() {
    pid_t first = 0;
    std::thread([&first] { first = gettid(); }).join();
    // A thread that has been joined may show up in /proc for a moment longer.
    while (std::filesystem::exists("/proc/self/task/" + std::to_string(first))) {
        std::this_thread::yield();
    }
    return threads_of_process();
}

// Hangs if one is left.
void until_threads_are(std::size_t expected) {
    while (threads_of_process() != expected) std::this_thread::yield();
}

// Whichever mode runs them.
void until_stepped(Task& task, std::uint64_t steps) {
    while (task.counters().steps < steps) std::this_thread::yield();
}

class EveryMode : public testing::TestWithParam<NamedOptions> {
  protected:
    const ExecutionOptions& options() const { return GetParam().options; }
    // Threads that spin wait for each other's time slices on a busy machine.
    bool spins() const { return options().waiting == ExecutionOptions::Waiting::spin; }
};

INSTANTIATE_TEST_SUITE_P(Execution, EveryMode, testing::ValuesIn(every_mode()),
                         [](const auto& param) { return param.param.name; });

TEST_P(EveryMode, ChainDeliversEverythingInOrder) {
    for (std::size_t length : {2U, 3U, 7U}) {
        const std::uint64_t count = (spins() ? 10 : 500) * effort;
        Chain chain(length, count);
        Execution execution(chain.tasks(), options());
        EXPECT_FALSE(execution.finished());
        execution.start();
        execution.wait();
        EXPECT_TRUE(execution.finished());
        EXPECT_EQ(chain.received(), count);
        EXPECT_EQ(chain.sum(), count * (count + 1) / 2);
        EXPECT_TRUE(chain.in_order());
        EXPECT_FALSE(chain.overlapped());
        EXPECT_EQ(execution.snapshot().tasks_unfinished, 0U);
    }
}

TEST_P(EveryMode, StopDrains) {
    Chain chain(4, ~std::uint64_t{0});
    Execution execution(chain.tasks(), options());
    execution.start();
    until_stepped(chain.task(3), 3);
    execution.stop();
    execution.wait();
    EXPECT_EQ(chain.received(), chain.emitted());
    EXPECT_TRUE(chain.in_order());
}

TEST_P(EveryMode, StoppedBeforeTheStart) {
    Chain chain(3, ~std::uint64_t{0});
    Execution execution(chain.tasks(), options());
    execution.stop();
    execution.start();
    execution.wait();
    EXPECT_EQ(chain.received(), chain.emitted());
}

TEST_P(EveryMode, CancelEndsAtOnce) {
    Chain chain(3, ~std::uint64_t{0});
    std::atomic<bool> over{false};
    std::atomic<int> late_steps{0};
    chain.before_step = [&](std::size_t) {
        if (over) ++late_steps;
    };
    {
        Execution execution(chain.tasks(), options());
        execution.start();
        until_stepped(chain.task(2), 1);
        execution.cancel();
        execution.wait();
        over = true;
        EXPECT_TRUE(execution.finished());
        for (Task* task : chain.tasks()) task->notify();  // late ones do nothing
    }
    EXPECT_EQ(late_steps, 0);
}

TEST_P(EveryMode, DestructionAtAnyPoint) {
    const std::size_t before = threads_before();
    for (int steps : {-2, -1, 0, 1, 20}) {
        Chain chain(3, ~std::uint64_t{0});
        Execution execution(chain.tasks(), options());
        if (steps == -2) continue;          // never started
        if (steps == -1) execution.stop();  // stopped at once
        execution.start();
        if (steps > 0) until_stepped(chain.task(0), static_cast<std::uint64_t>(steps));
    }
    until_threads_are(before);
}

TEST_P(EveryMode, ManyMayWaitAndAgain) {
    Chain chain(3, 100 * effort);
    Execution execution(chain.tasks(), options());
    execution.start();
    std::vector<std::thread> waiters;
    for (int i = 0; i < 3; ++i) {
        waiters.emplace_back([&] {
            execution.wait();
            EXPECT_EQ(chain.received(), 100 * effort);
        });
    }
    for (std::thread& waiter : waiters) waiter.join();
    execution.wait();
}

TEST_P(EveryMode, SeveralAtOnce) {
    std::vector<std::unique_ptr<Chain>> chains;
    std::vector<std::unique_ptr<Execution>> executions;
    for (int i = 0; i < 4; ++i) {
        chains.push_back(std::make_unique<Chain>(3, 100 * effort));
        executions.push_back(std::make_unique<Execution>(chains.back()->tasks(), options()));
        executions.back()->start();
    }
    for (std::size_t i = 0; i < chains.size(); ++i) {
        executions[i]->wait();
        EXPECT_EQ(chains[i]->received(), 100 * effort);
    }
}

TEST_P(EveryMode, CountersAddUp) {
    Chain chain(3, 200);
    std::array<std::atomic<std::uint64_t>, 3> steps{};
    chain.before_step = [&](std::size_t i) { ++steps[i]; };
    Execution execution(chain.tasks(), options());
    EXPECT_EQ(execution.snapshot().tasks_unfinished, 3U);
    execution.start();
    execution.wait();
    const runtime::ExecutionSnapshot snapshot = execution.snapshot();
    std::uint64_t total = 0;
    std::int64_t busy_ns = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        const runtime::TaskCounters& counters = snapshot.tasks[i].counters;
        EXPECT_EQ(snapshot.tasks[i].name, "task" + std::to_string(i));
        EXPECT_EQ(counters.steps, steps[i]);
        EXPECT_LT(counters.idle_periods, counters.steps);  // the last one finished
        EXPECT_GT(counters.busy_ns, 0);
        EXPECT_TRUE(counters.finished);
        total += counters.steps;
        busy_ns += counters.busy_ns;
    }
    std::uint64_t worker_total = 0;
    std::int64_t worker_busy_ns = 0;
    for (const runtime::WorkerCounters& worker : snapshot.workers) {
        worker_total += worker.steps;
        worker_busy_ns += worker.busy_ns;
        EXPECT_GE(worker.alive_ns, worker.busy_ns);
    }
    EXPECT_EQ(worker_total, total);
    EXPECT_EQ(worker_busy_ns, busy_ns);
}

void expect_no_leftover_thread(const ExecutionOptions& options, std::uint64_t rounds) {
    const std::size_t before = threads_before();
    for (std::uint64_t round = 0; round < rounds; ++round) {
        Chain chain(2, ~std::uint64_t{0});
        Execution execution(chain.tasks(), options);
        execution.start();
        if (round % 3 == 0) execution.stop();
        if (round % 3 == 1) execution.cancel();
        if (round % 3 != 2) execution.wait();
    }
    until_threads_are(before);
}

TEST_P(EveryMode, NoLeftoverThreadAfterManyRounds) {
    expect_no_leftover_thread(options(), 5 * effort);
}

TEST(Execution, NoLeftoverThreadAfterAThousandRounds) {
    expect_no_leftover_thread({.workers = 2}, 100 * effort);
}

TEST(Execution, OfNothingIsOver) {
    Execution execution({});
    execution.start();
    execution.wait();
    EXPECT_TRUE(execution.finished());
}

TEST(Execution, WrongOrderOfCallsIsAnError) {
    Chain chain(2, 5);
    Execution execution(chain.tasks());
    EXPECT_THROW(execution.wait(), GraphError);
    execution.start();
    EXPECT_THROW(execution.start(), GraphError);
    execution.wait();

    Chain cancelled(2, 5);
    Execution never(cancelled.tasks());
    never.cancel();
    never.wait();
    EXPECT_EQ(cancelled.emitted(), 0U);
}

TEST(Execution, CancelledBeforeTheStartStepsNothing) {
    Chain chain(2, 5);
    Execution execution(chain.tasks());
    execution.cancel();
    execution.start();
    execution.wait();
    EXPECT_EQ(chain.emitted(), 0U);
}

TEST(Execution, TakesATaskOnlyOnce) {
    Chain chain(2, 5);
    std::vector<Task*> twice = chain.tasks();
    twice.push_back(twice.front());
    EXPECT_THROW(Execution{twice}, GraphError);
    EXPECT_THROW(Execution({nullptr}), GraphError);
    Execution first(chain.tasks());
    EXPECT_THROW(Execution{chain.tasks()}, GraphError);
}

TEST(Execution, NotificationsOutliveIt) {
    FunctionTask task("late", [](FunctionTask&) { return StepResult::waiting; });
    task.notify();  // and precede it
    {
        Execution execution({&task});
        execution.start();
    }
    task.notify();
    EXPECT_EQ(task.counters().steps, task.counters().idle_periods);
}

TEST(Execution, BlockingTaskHasAThreadOfItsOwn) {
    std::atomic<bool> release{false};
    std::thread::id blocking_thread;
    FunctionTask blocking("blocking", [&](FunctionTask&) {
        blocking_thread = std::this_thread::get_id();
        release.wait(false);
        return StepResult::finished;
    });
    blocking.blocks = true;
    Chain chain(3, 1000);
    std::set<std::thread::id> others;
    std::mutex mutex;
    chain.before_step = [&](std::size_t) {
        const std::lock_guard lock(mutex);
        others.insert(std::this_thread::get_id());
    };
    std::vector<Task*> tasks = chain.tasks();
    tasks.push_back(&blocking);
    Execution execution(tasks, {.workers = 1});
    execution.start();
    while (!chain.task(2).counters().finished) std::this_thread::yield();
    release = true;
    release.notify_all();
    execution.wait();
    EXPECT_EQ(others.size(), 1U);
    EXPECT_FALSE(others.contains(blocking_thread));
    EXPECT_EQ(execution.snapshot().workers.size(), 2U);
}

TEST(Execution, NamesAProcessorThatDoesNotExist) {
    Chain chain(2, 5);
    try {
        const Execution execution(chain.tasks(), {.affinity = {0, 12345}});
        FAIL();
    } catch (const GraphError& error) {
        EXPECT_NE(std::string(error.what()).find("12345"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("task1"), std::string::npos) << error.what();
    }
    EXPECT_THROW(Execution(chain.tasks(), {.affinity = {0}}), GraphError);
    const Execution still_free(chain.tasks());
}

// Sources that always have more, beside consumers that always have more: each gets its share.
TEST(Execution, NoTaskStarves) {
    for (std::size_t workers : {1U, 2U}) {
        std::vector<std::unique_ptr<FunctionTask>> tasks;
        std::vector<Task*> borrowed;
        std::array<std::uint64_t, 40> steps{};
        for (std::size_t i = 0; i < steps.size(); ++i) {
            tasks.push_back(std::make_unique<FunctionTask>(
                "busy" + std::to_string(i), [&, i](FunctionTask& task) {
                    ++steps[i];
                    return task.stopping ? StepResult::finished : StepResult::progressed;
                }));
            borrowed.push_back(tasks.back().get());
        }
        Execution execution(borrowed, {.workers = workers});
        execution.start();
        // Hangs if one of them starves.
        for (const auto& task : tasks) until_stepped(*task, 100);
        execution.stop();
        execution.wait();
    }
}

}  // namespace
}  // namespace strid::test
