// SPDX-License-Identifier: Apache-2.0
//
// Farms that change their number of workers while they run: only those in use get tasks, no task is
// lost, and by the load there are as many as it needs.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/pattern/accelerator.hpp>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

/// Says which replica worked on a task.
struct WhichReplica : OperatorTypes<std::uint64_t, std::size_t> {
    static constexpr OperatorTraits traits{
        .kind = "which", .hears = events<Opened>, .stateless = true};
    std::size_t replica = 0;

    void on(const Opened& opened) { replica = opened.context.replica; }
    void process(std::uint64_t& /*task*/, auto& emit) { emit(std::size_t{replica}); }
};

template <class Policy>
void expect_only_those_in_use(const Policy& policy, const Options& options) {
    WorkersInUse in_use(2);
    auto which = accelerate<std::uint64_t>(
        farm(WhichReplica{}, policy, {.workers = 4, .in_use = in_use}), options);
    for (const std::size_t workers : {2U, 1U, 4U, 3U, 100U, 1U}) {
        in_use.set(workers);
        for (std::uint64_t n = 0; n < 100; ++n) {
            which.offload(n);
            const auto replica = which.result();
            ASSERT_TRUE(replica);
            // Before it was set, the first may have been granted a run of tasks.
            if (n >= 50) {
                ASSERT_LT(*replica, std::min<std::size_t>(workers, 4));
            }
        }
    }
}

TEST(WorkersInUse, AreSetWhileTheFarmRuns) {
    for (Options options : all_options()) {
        options.lane_tasks = 8;  // a run of tasks for one worker is no longer
        expect_only_those_in_use(Adaptive{}, options);
        expect_only_those_in_use(RoundRobin{}, options);
        expect_only_those_in_use(LeastLoaded{}, options);
        expect_only_those_in_use(OnDemand{1}, options);
        expect_only_those_in_use(Weighted{[](std::uint64_t n) { return double(n); }}, options);
    }
}

TEST(WorkersInUse, LoseNoTask) {
    for (const Options& options : all_options()) {
        WorkersInUse in_use(1);
        Collected<std::uint64_t> results;
        const auto change = [in_use](std::uint64_t n) mutable {
            in_use.set(n * 7 % 4);  // 0 counts as one
            return n;
        };
        run(pipeline(numbers(), change, ordered_farm(square, {.workers = 3, .in_use = in_use}),
                     results.node()),
            options);
        ASSERT_EQ(results.tasks(), squares());
    }
}

/// Tasks that wait for nothing but a clock: the farm needs all workers while they come fast, and
/// one while they come one by one.
TEST(WorkersInUse, FollowTheLoad) {
    WorkersInUse in_use = WorkersInUse::by_load();
    auto farmed = accelerate<std::uint64_t>(farm(square, {.workers = 3, .in_use = in_use}),
                                            {.execution = {.workers = 1}, .lane_tasks = 4});
    EXPECT_EQ(in_use.now(), 1U);
    std::size_t most = 1;
    for (std::uint64_t n = 0; n < 1'000; ++n) {
        farmed.offload(n);
        most = std::max(most, in_use.now());
    }
    EXPECT_EQ(most, 3U);
    for (std::uint64_t n = 0; n < 1'000; ++n) ASSERT_TRUE(farmed.result());
    // One at a time, and 1,024 in a row that find the others idle for each worker less. This thread
    // deals out the tasks: where the worker loses its core between a result and the release of its
    // task, the next one finds it busy, and a row begins anew.
    std::uint64_t tasks = 0;
    for (; in_use.now() != 1 && tasks < 300'000; ++tasks) {
        farmed.offload(tasks);
        ASSERT_TRUE(farmed.result());
    }
    EXPECT_EQ(in_use.now(), 1U);
    EXPECT_GT(tasks, 1'024U) << "a worker less for fewer tasks than a row has";
}

TEST(WorkersInUse, AreRefusedWhereEachWorkerHasItsOwnTasks) {
    const FarmOptions options{.workers = 2, .in_use = WorkersInUse(1)};
    const auto consume = [](std::uint64_t) {};
    const auto key = [](std::uint64_t n) { return n; };
    EXPECT_THROW(run(pipeline(numbers(), farm(consume, ByKey{key}, options))), GraphError);
    EXPECT_THROW(run(pipeline(numbers(), farm(consume, Broadcast{}, options))), GraphError);
    const FarmOptions by_load{.workers = 2, .in_use = WorkersInUse::by_load()};
    EXPECT_THROW(
        run(pipeline(numbers(), farm(square, FarmOptions{.workers = 2}), farm(consume, by_load))),
        GraphError);
}

}  // namespace
}  // namespace strid
