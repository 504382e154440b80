// SPDX-License-Identifier: Apache-2.0
//
// The return lane against a model of two queues, and two threads at full speed.
#include <algorithm>
#include <atomic>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/engine/memory/return_lane.hpp>

#include "stress.hpp"

namespace strid::memory {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Node {
    Node* next = nullptr;
    std::uint64_t value = 0;
};

std::vector<std::uint64_t> take(ReturnLane<Node>& lane) {
    std::vector<std::uint64_t> values;
    for (Node* node = lane.take_all(); node != nullptr; node = node->next) {
        values.push_back(node->value);
    }
    return values;
}

TEST(ReturnLane, publishes_in_bunches_newest_bunch_first) {
    std::vector<Node> nodes(5);
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].value = i;
    ReturnLane<Node> lane(2);
    EXPECT_FALSE(lane.give(&nodes[0]));
    EXPECT_THAT(take(lane), IsEmpty());
    EXPECT_TRUE(lane.give(&nodes[1]));
    EXPECT_FALSE(lane.give(&nodes[2]));
    EXPECT_TRUE(lane.give(&nodes[3]));
    EXPECT_FALSE(lane.give(&nodes[4]));
    EXPECT_EQ(lane.pending_count(), 1U);
    EXPECT_TRUE(lane.has_published());
    EXPECT_THAT(take(lane), ElementsAre(2, 3, 0, 1));
    EXPECT_FALSE(lane.has_published());
    EXPECT_TRUE(lane.flush());
    EXPECT_FALSE(lane.flush());
    EXPECT_THAT(take(lane), ElementsAre(4));
    EXPECT_TRUE(lane.is_valid());
}

TEST(ReturnLane, behaves_as_a_pending_and_a_published_queue) {
    std::mt19937_64 random(test::test_seed());
    for (int round = 0; round < 200; ++round) {
        const std::size_t bunch = random() % 6;
        ReturnLane<Node> lane(bunch);
        std::deque<Node> nodes;
        std::vector<std::uint64_t> pending;
        std::vector<std::uint64_t> published;
        const auto publish = [&] {
            published.insert(published.begin(), pending.begin(), pending.end());
            pending.clear();
        };
        for (int step = 0; step < 100; ++step) {
            const auto choice = random() % 8;
            if (choice == 0) {
                ASSERT_EQ(take(lane), published);
                published.clear();
            } else if (choice == 1) {
                ASSERT_EQ(lane.flush(), !pending.empty());
                publish();
            } else {
                nodes.push_back({nullptr, nodes.size()});
                pending.push_back(nodes.back().value);
                const bool full = pending.size() >= std::max<std::size_t>(bunch, 1);
                ASSERT_EQ(lane.give(&nodes.back()), full);
                if (full) publish();
            }
            ASSERT_EQ(lane.pending_count(), pending.size());
            ASSERT_EQ(lane.has_published(), !published.empty());
            ASSERT_TRUE(lane.is_valid());
            std::size_t visited = 0;
            lane.for_each_quiescent([&](Node*) { ++visited; });
            ASSERT_EQ(visited, pending.size() + published.size());
        }
    }
}

TEST(ReturnLane, stress_nothing_is_lost_or_doubled_between_two_threads) {
    const test::Watchdog watchdog;
    const std::size_t count = 2'000'000 / test::work_divisor;
    std::mt19937_64 random(test::test_seed());
    ReturnLane<Node> lane(1 + random() % 16);
    std::vector<Node> nodes(count);
    std::atomic<bool> done{false};
    std::thread consumer([&] {
        for (Node& node : nodes) {
            node.value = 1;  // plain: the lane must order it before the owner's read
            lane.give(&node);
        }
        lane.flush();
        done.store(true, std::memory_order_release);  // pairs with the load below
    });
    std::size_t taken = 0;
    for (bool last = false; !last;) {
        last = done.load(std::memory_order_acquire);  // pairs with the store above
        for (Node* node = lane.take_all(); node != nullptr; node = node->next) {
            node->value += 1;
            ++taken;
        }
    }
    consumer.join();
    EXPECT_EQ(taken, count);
    EXPECT_TRUE(
        std::all_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.value == 2; }));
}

}  // namespace
}  // namespace strid::memory
