// SPDX-License-Identifier: Apache-2.0
//
// The packed states of tasks: each transition alone, against a table; then many threads at once.
// All interleavings of the protocol around it are in waking_protocol_test.cpp.
#include <array>
#include <bit>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/runtime/task_states.hpp>

#include "toy_tasks.hpp"

namespace strid::runtime {
namespace {

TEST(TaskStates, LifeOfOneTask) {
    TaskStates states;
    EXPECT_EQ(states.claimable(), 0U);
    EXPECT_FALSE(states.try_claim(5));  // idle
    EXPECT_TRUE(states.notify(5));      // idle -> ready
    EXPECT_FALSE(states.notify(5));     // ready already
    EXPECT_EQ(states.claimable(), 1U << 5);
    EXPECT_FALSE(states.is_claimed(5));
    EXPECT_TRUE(states.try_claim(5));  // ready -> running
    EXPECT_FALSE(states.try_claim(5));
    EXPECT_TRUE(states.is_claimed(5));
    EXPECT_EQ(states.claimable(), 0U);
    EXPECT_FALSE(states.release_waiting(5));  // running -> idle
    EXPECT_TRUE(states.notify(5));
    EXPECT_TRUE(states.try_claim(5));
    EXPECT_FALSE(states.notify(5));  // running -> running, notified
    EXPECT_FALSE(states.try_claim(5));
    EXPECT_EQ(states.claimable(), 0U);
    EXPECT_TRUE(states.release_waiting(5));  // -> ready
    EXPECT_TRUE(states.try_claim(5));
    states.release_ready(5);  // running -> ready
    EXPECT_EQ(states.claimable(), 1U << 5);
}

// A random walk over all 32 tasks against two plain arrays of booleans.
TEST(TaskStates, NeighboursDoNotDisturbEachOther) {
    std::mt19937_64 random(11);
    TaskStates states;
    std::array<bool, TaskStates::capacity> pending{};
    std::array<bool, TaskStates::capacity> claimed{};
    for (int i = 0; i < 20'000; ++i) {
        const auto task = static_cast<unsigned>(random() % TaskStates::capacity);
        switch (random() % 4) {
            case 0:
                EXPECT_EQ(states.notify(task), !pending[task] && !claimed[task]);
                pending[task] = true;
                break;
            case 1: {
                const bool ready = pending[task] && !claimed[task];
                EXPECT_EQ(states.try_claim(task), ready);
                if (ready) pending[task] = false;
                claimed[task] = claimed[task] || ready;
                break;
            }
            case 2:
                if (!claimed[task]) break;
                EXPECT_EQ(states.release_waiting(task), pending[task]);
                claimed[task] = false;
                break;
            default:
                if (!claimed[task]) break;
                states.release_ready(task);
                claimed[task] = false;
                pending[task] = true;
        }
        std::uint32_t ready = 0;
        for (unsigned t = 0; t < TaskStates::capacity; ++t) {
            if (pending[t] && !claimed[t]) ready |= 1U << t;
            ASSERT_EQ(states.is_claimed(t), claimed[t]);
        }
        ASSERT_EQ(states.claimable(), ready);
    }
}

// Notifiers publish plain data guarded by nothing but the states; claimers add it up.
TEST(TaskStates, EveryNotificationIsAnsweredAndCarriesItsData) {
    constexpr unsigned tasks = 4;
    const std::uint64_t rounds = 2'000 * test::effort;
    TaskStates states;
    std::array<std::atomic<std::uint64_t>, tasks> published{};
    std::array<std::uint64_t, tasks> seen{};  // plain: the claim orders the steps
    std::array<std::atomic<int>, tasks> inside{};
    std::atomic<int> notifiers{2};
    const auto notifier = [&](unsigned seed) {
        for (std::uint64_t i = 0; i < rounds; ++i) {
            const auto task = static_cast<unsigned>((i + seed) % tasks);
            published[task].fetch_add(1, std::memory_order_relaxed);
            static_cast<void>(states.notify(task));
            if (i % 256 == 0) std::this_thread::yield();
        }
        --notifiers;
    };
    const auto claimer = [&] {
        while (true) {
            const bool last = notifiers == 0;
            const std::uint32_t ready = states.claimable();
            if (ready == 0 && last) return;
            if (ready == 0) std::this_thread::yield();
            for (std::uint32_t left = ready; left != 0; left &= left - 1) {
                const auto task = static_cast<unsigned>(std::countr_zero(left));
                if (!states.try_claim(task)) continue;
                EXPECT_EQ(inside[task]++, 0);
                seen[task] = published[task].load(std::memory_order_relaxed);
                --inside[task];
                static_cast<void>(states.release_waiting(task));
            }
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 2; ++i) threads.emplace_back(notifier, i);
    for (unsigned i = 0; i < 2; ++i) threads.emplace_back(claimer);
    for (std::thread& thread : threads) thread.join();
    for (unsigned task = 0; task < tasks; ++task) EXPECT_EQ(seen[task], published[task]);
}

}  // namespace
}  // namespace strid::runtime
