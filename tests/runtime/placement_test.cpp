// SPDX-License-Identifier: Apache-2.0
//
// Placement on machines other than this one.
#include <numeric>

#include <gtest/gtest.h>

#include <strid/base/error.hpp>

#include "../../src/runtime/task_placement.hpp"
#include "toy_tasks.hpp"

namespace strid::runtime {
namespace {

using Mode = ExecutionOptions::Mode;
using test::FunctionTask;

// Two groups of four cores, with alternating numbers, as firmware often has them.
Topology two_domains() {
    return Topology({{0, 0}, {2, 0}, {4, 0}, {6, 0}, {1, 1}, {3, 1}, {5, 1}, {7, 1}});
}

class Tasks {
  public:
    explicit Tasks(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            tasks_.push_back(
                std::make_unique<FunctionTask>(std::string("t").append(std::to_string(i)),
                                               [](FunctionTask&) { return StepResult::finished; }));
            pointers_.push_back(tasks_.back().get());
        }
    }
    FunctionTask& operator[](std::size_t i) { return *tasks_[i]; }
    std::span<Task* const> all() const { return pointers_; }

  private:
    std::vector<std::unique_ptr<FunctionTask>> tasks_;
    std::vector<Task*> pointers_;
};

TEST(Placement, ContiguousChunksOfEqualSize) {
    for (std::size_t count : {1U, 7U, 8U, 9U, 100U}) {
        for (std::size_t workers : {1U, 2U, 3U, 8U, 200U}) {
            const Tasks tasks(count);
            const Placement placement = place(tasks.all(), {.workers = workers}, two_domains());
            ASSERT_EQ(placement.pools.size(), 1U);
            const auto& homes = placement.pools[0].homes;
            const std::size_t used = std::min(workers, count);
            EXPECT_EQ(placement.threads, used);
            ASSERT_EQ(homes.size(), count);
            EXPECT_TRUE(std::is_sorted(homes.begin(), homes.end()));
            for (std::uint32_t home = 0; home < used; ++home) {
                const auto size =
                    static_cast<std::size_t>(std::count(homes.begin(), homes.end(), home));
                EXPECT_GE(size, count / used);
                EXPECT_LE(size, (count + used - 1) / used);
            }
        }
    }
}

TEST(Placement, DefaultsFillTheMachineAndKeepToCacheDomains) {
    const Tasks tasks(20);
    const Placement placement = place(tasks.all(), {}, two_domains());
    const auto& processors = placement.pools.at(0).processors;
    ASSERT_EQ(processors.size(), 8U);
    for (std::size_t worker = 0; worker < 8; ++worker) {
        EXPECT_EQ(processors[worker],
                  worker < 4 ? (std::vector<int>{0, 2, 4, 6}) : (std::vector<int>{1, 3, 5, 7}));
    }
    EXPECT_EQ(placement.pools[0].begin_on, (std::vector<int>{0, 2, 4, 6, 1, 3, 5, 7}));
    // With a part of the machine, the kernel chooses.
    const Placement part = place(tasks.all(), {.workers = 4}, two_domains());
    for (const auto& anywhere : part.pools.at(0).processors) EXPECT_TRUE(anywhere.empty());
    EXPECT_TRUE(part.pools[0].begin_on.empty());
}

TEST(Placement, PinsNeighboursToNeighbouringCores) {
    const Tasks tasks(10);
    const Placement shared = place(tasks.all(), {.workers = 4, .pin = true}, two_domains());
    EXPECT_EQ(shared.pools.at(0).processors, (std::vector<std::vector<int>>{{0}, {2}, {4}, {6}}));
    const Placement own = place(tasks.all(), {.mode = Mode::dedicated, .pin = true}, two_domains());
    ASSERT_EQ(own.pools.size(), 10U);
    const std::vector<int> expected{0, 2, 4, 6, 1, 3, 5, 7, 0, 2};  // goes round
    for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(own.pools[i].processors, (std::vector<std::vector<int>>{{expected[i]}}));
        EXPECT_EQ(own.pools[i].tasks, (std::vector<std::uint32_t>{static_cast<unsigned>(i)}));
    }
}

TEST(Placement, BlockingTasksAreSetApart) {
    Tasks tasks(4);
    tasks[1].blocks = true;
    const Placement placement = place(tasks.all(), {.workers = 2}, two_domains());
    ASSERT_EQ(placement.pools.size(), 2U);
    EXPECT_EQ(placement.threads, 3U);
    EXPECT_EQ(placement.pools[0].tasks, (std::vector<std::uint32_t>{1}));
    EXPECT_EQ(placement.pools[1].tasks, (std::vector<std::uint32_t>{0, 2, 3}));
    EXPECT_EQ(placement.pools[1].homes, (std::vector<std::uint32_t>{0, 0, 1}));
    const Placement simulated = place(tasks.all(), {.mode = Mode::simulation}, two_domains());
    EXPECT_EQ(simulated.threads, 1U);
}

TEST(Placement, ExplicitAffinityMakesAWorkerPerProcessor) {
    const Tasks tasks(5);
    const Placement placement = place(tasks.all(), {.affinity = {3, 3, 6, 0, 6}}, two_domains());
    EXPECT_EQ(placement.pools.at(0).processors, (std::vector<std::vector<int>>{{3}, {6}, {0}}));
    EXPECT_EQ(placement.pools.at(0).homes, (std::vector<std::uint32_t>{0, 0, 1, 2, 1}));
    EXPECT_THROW(static_cast<void>(place(tasks.all(), {.workers = 2, .affinity = {3, 3, 6, 0, 6}},
                                         two_domains())),
                 GraphError);
    EXPECT_THROW(
        static_cast<void>(place(tasks.all(), {.affinity = {0, 1, 2, 3, 8}}, two_domains())),
        GraphError);
    EXPECT_THROW(static_cast<void>(place(tasks.all(), {.affinity = {0, 1}}, two_domains())),
                 GraphError);
}

}  // namespace
}  // namespace strid::runtime
