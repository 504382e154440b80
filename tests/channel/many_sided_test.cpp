// SPDX-License-Identifier: Apache-2.0
//
// The channels with many producers or many consumers, case by case: turns, policies, the end.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/channel/mpmc_channel.hpp>

namespace strid::channel {
namespace {

using testing::ElementsAre;

template <class Channel>
std::vector<int> take_all(Channel& channel) {
    std::vector<int> taken;
    int out = 0;
    while (channel.try_pop(out) == PopResult::ok) taken.push_back(out);
    return taken;
}

template <class Channel>
std::vector<int> take_all(Channel& channel, std::size_t lane) {
    std::vector<int> taken;
    int out = 0;
    while (channel.try_pop(lane, out) == PopResult::ok) taken.push_back(out);
    return taken;
}

TEST(MpscChannel, gives_each_producer_its_turn) {
    MpscChannel<int> channel({.producers = 3, .lane_capacity = 8, .burst = 2});
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(channel.try_push(0, i), PushResult::ok);
        ASSERT_EQ(channel.try_push(2, 20 + i), PushResult::ok);
    }
    EXPECT_EQ(channel.size(), 8U);
    EXPECT_EQ(channel.lane_size(2), 4U);
    EXPECT_THAT(take_all(channel), ElementsAre(0, 1, 20, 21, 2, 3, 22, 23));
}

TEST(MpscChannel, a_peek_shows_one_producer_and_says_which) {
    MpscChannel<int> channel({.producers = 2, .lane_capacity = 8, .burst = 16});
    for (int i = 0; i < 3; ++i) ASSERT_EQ(channel.try_push(1, i), PushResult::ok);
    ASSERT_EQ(channel.try_push(0, 9), PushResult::ok);
    auto items = channel.peek(8);
    EXPECT_THAT(items, ElementsAre(9));
    EXPECT_EQ(channel.lane_of_peek(), 0U);
    channel.release(1);
    items = channel.peek(8);
    EXPECT_THAT(items, ElementsAre(0, 1, 2));
    EXPECT_EQ(channel.lane_of_peek(), 1U);
    channel.release(2);
    EXPECT_THAT(channel.peek(8), ElementsAre(2));
}

TEST(MpscChannel, closed_when_every_producer_closed_and_all_is_taken) {
    MpscChannel<int> channel({.producers = 3, .lane_capacity = 2});
    int out = 0;
    channel.close(1);
    EXPECT_EQ(channel.try_pop(out), PopResult::empty);
    EXPECT_EQ(channel.try_push(1, 5), PushResult::closed);
    ASSERT_EQ(channel.try_push(2, 7), PushResult::ok);
    channel.close(2);
    channel.close(0);
    EXPECT_FALSE(channel.drained());
    EXPECT_EQ(channel.try_pop(out), PopResult::ok);
    EXPECT_EQ(out, 7);
    EXPECT_EQ(channel.lane_of_peek(), 2U);
    EXPECT_EQ(channel.try_pop(out), PopResult::closed);
    EXPECT_TRUE(channel.drained());
}

TEST(SpmcChannel, round_robin_steps_over_full_lanes) {
    SpmcChannel<int> channel({.consumers = 3, .lane_capacity = 2});
    for (int i = 0; i < 6; ++i) ASSERT_EQ(channel.try_push(i), PushResult::ok);
    EXPECT_EQ(channel.try_push(6), PushResult::full);
    EXPECT_THAT(take_all(channel, 1), ElementsAre(1, 4));
    ASSERT_EQ(channel.try_push(6), PushResult::ok);
    ASSERT_EQ(channel.try_push(7), PushResult::ok);
    EXPECT_THAT(take_all(channel, 1), ElementsAre(6, 7));
    EXPECT_THAT(take_all(channel, 0), ElementsAre(0, 3));
}

TEST(SpmcChannel, strict_round_robin_waits_for_the_lane_whose_turn_it_is) {
    SpmcChannel<int, StrictRoundRobin> channel({.consumers = 2, .lane_capacity = 1});
    ASSERT_EQ(channel.try_push(0), PushResult::ok);
    ASSERT_EQ(channel.try_push(1), PushResult::ok);
    EXPECT_THAT(take_all(channel, 1), ElementsAre(1));
    EXPECT_EQ(channel.try_push(2), PushResult::full);
    EXPECT_THAT(take_all(channel, 0), ElementsAre(0));
    EXPECT_EQ(channel.try_push(2), PushResult::ok);
    EXPECT_THAT(take_all(channel, 0), ElementsAre(2));
}

TEST(SpmcChannel, least_full_feeds_the_consumer_with_the_least_to_do) {
    SpmcChannel<int, LeastFull> channel({.consumers = 3, .lane_capacity = 4});
    for (int i = 0; i < 6; ++i) ASSERT_EQ(channel.try_push(i), PushResult::ok);
    EXPECT_EQ(channel.lane_size(0), 2U);
    EXPECT_EQ(channel.lane_size(1), 2U);
    EXPECT_EQ(channel.lane_size(2), 2U);
    EXPECT_EQ(take_all(channel, 1).size(), 2U);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(channel.try_push(i), PushResult::ok);
    EXPECT_EQ(channel.lane_size(1), 2U);
}

TEST(SpmcChannel, routes_past_the_policy_and_closes_every_lane) {
    SpmcChannel<std::string> channel({.consumers = 2, .lane_capacity = 2});
    ASSERT_EQ(channel.try_push_to(1, "by key"), PushResult::ok);
    channel.close();
    EXPECT_EQ(channel.try_push("late"), PushResult::closed);
    std::string out;
    EXPECT_EQ(channel.try_pop(0, out), PopResult::closed);
    EXPECT_FALSE(channel.drained(1));
    EXPECT_EQ(channel.peek(1, 5).front(), "by key");
    channel.release(1, 1);
    EXPECT_EQ(channel.try_pop(1, out), PopResult::closed);
}

TEST(MpmcChannel, the_arbiter_leaves_what_it_cannot_hand_on) {
    MpmcChannel<int> channel({.producers = 2, .consumers = 1, .lane_capacity = 2, .burst = 2});
    EXPECT_EQ(channel.step(10), ArbiterResult::empty);
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(channel.try_push(0, i), PushResult::ok);
        ASSERT_EQ(channel.try_push(1, 10 + i), PushResult::ok);
    }
    EXPECT_EQ(channel.step(10), ArbiterResult::progressed);
    EXPECT_EQ(channel.step(10), ArbiterResult::full);
    EXPECT_EQ(channel.size(), 4U);
    channel.close(0);
    channel.close(1);
    EXPECT_THAT(take_all(channel, 0), ElementsAre(0, 1));
    EXPECT_EQ(channel.step(1), ArbiterResult::progressed);
    EXPECT_EQ(channel.step(1), ArbiterResult::progressed);
    int out = 0;
    EXPECT_EQ(channel.try_pop(0, out), PopResult::ok);
    EXPECT_EQ(channel.try_pop(0, out), PopResult::ok);
    EXPECT_EQ(channel.try_pop(0, out), PopResult::empty);
    EXPECT_EQ(channel.step(10), ArbiterResult::closed);
    EXPECT_EQ(channel.step(10), ArbiterResult::closed);
    EXPECT_EQ(channel.try_pop(0, out), PopResult::closed);
    EXPECT_TRUE(channel.drained(0));
}

}  // namespace
}  // namespace strid::channel
