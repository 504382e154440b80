// SPDX-License-Identifier: Apache-2.0
//
// The pool without threads: the task that a claim picks, and the timers that fire, against plain
// models.
#include "../../src/runtime/pool.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "toy_tasks.hpp"

namespace strid::runtime {
namespace {

using test::FunctionTask;

class PoolTest : public testing::Test {
  protected:
    // Homes of very different sizes, one with several words of states, one empty.
    void build(const std::vector<std::uint32_t>& sizes) {
        std::vector<Pool::Member> members;
        for (std::uint32_t home = 0; home < sizes.size(); ++home) {
            for (std::uint32_t i = 0; i < sizes[home]; ++i) {
                tasks_.push_back(std::make_unique<FunctionTask>(
                    "task", [](FunctionTask&) { return StepResult::waiting; }));
                const auto rank = static_cast<std::uint32_t>(members.size());
                members.push_back({tasks_.back().get(), home, rank});
            }
        }
        pool_ = Pool::create(members, sizes.size());
        for (Slot& slot : pool_->slots()) {  // every task begins ready
            ASSERT_TRUE(Pool::claim(slot));
            release(slot);
        }
    }

    static void release(Slot& slot) { static_cast<void>(slot.states->release_waiting(slot.bit)); }
    static bool is_ready(const Slot& slot) {
        return ((slot.states->claimable() >> slot.bit) & 1U) != 0;
    }

    std::vector<std::unique_ptr<FunctionTask>> tasks_;
    std::shared_ptr<Pool> pool_;
    std::mt19937_64 random_{99};
};

TEST_F(PoolTest, EveryTaskBeginsReady) {
    FunctionTask task("task", [](FunctionTask&) { return StepResult::waiting; });
    const Pool::Member member{&task, 0, 0};
    const auto pool = Pool::create({&member, 1}, 1);
    EXPECT_TRUE(Pool::has_slot(task));
    EXPECT_TRUE(pool->any_ready());
    EXPECT_TRUE(Pool::claim(pool->slots()[0]));
}

TEST_F(PoolTest, ClaimsTheHighestReadyTaskOfARange) {
    const std::vector<std::uint32_t> sizes{1, 100, 0, 32, 33};
    build(sizes);
    for (int round = 0; round < 5'000; ++round) {
        for (Slot& slot : pool_->slots()) {
            if (random_() % 20 == 0) tasks_[slot.rank]->notify();
        }
        const std::size_t home = random_() % sizes.size();
        const auto low = static_cast<std::uint32_t>(random_() % (sizes[home] + 1));
        const auto high = static_cast<std::uint32_t>(random_() % (sizes[home] + 1));
        Slot* expected = nullptr;
        bool any = false;
        for (Slot& slot : pool_->slots()) {
            if (slot.home != home || !is_ready(slot)) continue;
            any = true;
            if (slot.at_home >= low && slot.at_home < high) expected = &slot;
        }
        EXPECT_EQ(pool_->any_ready_of(home), any);
        Slot* claimed = pool_->claim_between(home, low, high);
        ASSERT_EQ(claimed, expected);
        if (claimed != nullptr) release(*claimed);
    }
}

TEST_F(PoolTest, TakesFromItsOwnHomeFirstAndThenFromEveryOther) {
    build({2, 0, 3, 1});
    for (std::size_t worker = 0; worker < 4; ++worker) {
        for (const auto& task : tasks_) task->notify();
        std::vector<std::size_t> distances;
        while (Slot* slot = pool_->claim_anywhere(worker)) {
            distances.push_back((slot->home + 4 - worker) % 4);
            release(*slot);
        }
        EXPECT_EQ(distances.size(), 6U);
        EXPECT_TRUE(std::is_sorted(distances.begin(), distances.end()));
        EXPECT_FALSE(pool_->any_ready());
    }
}

TEST_F(PoolTest, TimersFireWhenTheirTimeHasComeAndNotBefore) {
    build({5, 40, 3});
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> due(tasks_.size(), none);
    std::vector<bool> ready(tasks_.size(), false);
    std::int64_t now = 1000;
    for (int round = 0; round < 20'000; ++round) {
        now += static_cast<std::int64_t>(random_() % 50);
        const std::size_t i = random_() % tasks_.size();
        Slot& slot = pool_->slots()[i];
        switch (random_() % 3) {
            case 0:  // a step that ends with a time
                if (!ready[i]) tasks_[i]->notify();
                ASSERT_TRUE(Pool::claim(slot));
                due[i] = now + static_cast<std::int64_t>(random_() % 2000);
                ready[i] = false;
                pool_->arm(slot, due[i]);
                release(slot);
                break;
            case 1:  // a step for another reason: the old time is forgotten
                if (!ready[i]) break;
                ASSERT_TRUE(Pool::claim(slot));
                due[i] = none;
                ready[i] = false;
                release(slot);
                break;
            default:
                pool_->fire_timers(now);
                for (std::size_t t = 0; t < due.size(); ++t) {
                    if (due[t] > now) continue;
                    due[t] = none;
                    ready[t] = true;
                }
        }
        const std::int64_t earliest = *std::min_element(due.begin(), due.end());
        ASSERT_LE(pool_->next_deadline(), earliest);
        for (std::size_t t = 0; t < due.size(); ++t) {
            ASSERT_EQ(is_ready(pool_->slots()[t]), ready[t]) << "task " << t << " round " << round;
        }
    }
}

TEST_F(PoolTest, EndsWithItsLastTask) {
    build({1, 1});
    EXPECT_FALSE(pool_->ending());
    pool_->task_finished();
    EXPECT_FALSE(pool_->ending());
    pool_->task_finished();
    EXPECT_TRUE(pool_->ending());
}

}  // namespace
}  // namespace strid::runtime
