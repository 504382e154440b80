// SPDX-License-Identifier: Apache-2.0
//
// Steps that throw: wait() throws the first exception, unchanged, in every mode, whichever task and
// step it is; the rest stops and nothing hangs.
#include <stdexcept>

#include <gtest/gtest.h>

#include <strid/base/error.hpp>

#include "toy_tasks.hpp"

namespace strid::test {
namespace {

struct Boom {
    std::size_t task;
};

class FailureInEveryMode : public testing::TestWithParam<NamedOptions> {};

INSTANTIATE_TEST_SUITE_P(Execution, FailureInEveryMode, testing::ValuesIn(every_mode()),
                         [](const auto& param) { return param.param.name; });

constexpr std::uint64_t count = 500;
constexpr std::uint64_t last_step = ~std::uint64_t{0};

// Throws in the n-th step of a task, or in its last, when everything has passed it.
void run_failing(const ExecutionOptions& options, std::size_t failing, std::uint64_t nth) {
    Chain chain(3, count);
    std::uint64_t steps = 0;
    std::atomic<int> late_steps{0};
    std::atomic<bool> over{false};
    chain.before_step = [&](std::size_t i) {
        if (over) ++late_steps;
        if (i != failing) return;
        if (++steps == nth) throw Boom{i};
    };
    chain.before_finish = [&](std::size_t i) {
        if (i == failing && nth == last_step) throw Boom{i};
    };
    Execution execution(chain.tasks(), options);
    execution.start();
    for (int again = 0; again < 2; ++again) {
        try {
            execution.wait();
            FAIL() << "no exception from task " << failing;
        } catch (const Boom& boom) {
            EXPECT_EQ(boom.task, failing);
        }
        over = true;
    }
    EXPECT_TRUE(execution.finished());
    EXPECT_EQ(late_steps, 0);
    EXPECT_FALSE(execution.snapshot().tasks[failing].counters.finished);
}

TEST_P(FailureInEveryMode, FirstMiddleOrLastStepOfAnyTask) {
    for (std::size_t task : {0U, 1U, 2U}) {
        for (std::uint64_t nth : {std::uint64_t{1}, std::uint64_t{20}, last_step}) {
            SCOPED_TRACE(testing::Message() << "task " << task << " step " << nth);
            run_failing(GetParam().options, task, nth);
        }
    }
}

TEST_P(FailureInEveryMode, FirstFailureWins) {
    std::vector<std::unique_ptr<FunctionTask>> tasks;
    std::vector<Task*> borrowed;
    std::atomic<int> order{0};
    for (int i = 0; i < 6; ++i) {
        tasks.push_back(std::make_unique<FunctionTask>(
            "failing" + std::to_string(i), [&](FunctionTask&) -> StepResult { throw ++order; }));
        borrowed.push_back(tasks.back().get());
    }
    Execution execution(borrowed, GetParam().options);
    execution.start();
    try {
        execution.wait();
        FAIL();
    } catch (int number) {
        EXPECT_GE(number, 1);
        EXPECT_LE(number, order);
        // With one thread nothing runs after the failure.
        if (execution.snapshot().workers.size() == 1) {
            EXPECT_EQ(order, 1);
        }
    }
}

TEST(Failure, FromOutside) {
    FunctionTask idle("idle", [](FunctionTask&) { return StepResult::waiting; });
    Execution execution({&idle});
    execution.start();
    execution.fail(std::make_exception_ptr(InputOutputError("the disk is full")));
    execution.fail(std::make_exception_ptr(Error("too late")));
    EXPECT_THROW(execution.wait(), InputOutputError);
}

TEST(Failure, AfterTheEndChangesNothing) {
    Chain chain(2, 10);
    Execution execution(chain.tasks());
    execution.start();
    execution.wait();
    execution.fail(std::make_exception_ptr(Error("too late")));
    execution.wait();
    EXPECT_EQ(chain.received(), 10U);
}

TEST(Failure, CancelFromInsideAStep) {
    Execution* borrowed = nullptr;
    FunctionTask task("gives up", [&](FunctionTask&) {
        borrowed->cancel();
        return StepResult::progressed;
    });
    Execution execution({&task});
    borrowed = &execution;
    execution.start();
    execution.wait();
    EXPECT_EQ(task.counters().steps, 1U);
}

}  // namespace
}  // namespace strid::test
