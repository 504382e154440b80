// SPDX-License-Identifier: Apache-2.0
//
// The timers of keys against an ordered set, and the memory that they keep.
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/window/structures/timer_queue.hpp>

namespace strid::window {
namespace {

EventTime time_at(std::int64_t ns) {
    return EventTime::of_ns(ns);
}

TEST(TimersOfKeys, AreThoseOfAnOrderedSet) {
    for (std::uint64_t seed = 0; seed != 60; ++seed) {
        std::mt19937_64 random{seed};
        const std::uint64_t stretch = seed % 3 == 0 ? 4 : seed % 3 == 1 ? 60 : 100'000;
        std::deque<PendingTimers> keys(1 + seed % 5);
        TimerQueue<EventTime> queue;
        std::map<std::tuple<std::int64_t, std::uint64_t>, std::size_t> in_order;  // by time, number
        std::map<std::tuple<std::size_t, std::int64_t>, std::uint64_t> numbers;
        std::int64_t now = 0;
        std::uint64_t number = 0;
        for (int i = 0; i != 3'000; ++i) {
            const std::size_t key = random() % keys.size();
            const std::int64_t time = now + static_cast<std::int64_t>(random() % stretch);
            const std::uint64_t chosen = random() % 100;
            const auto known = numbers.find({key, time});
            if (chosen < 55) {
                queue.add(keys[key], time_at(time));
                if (known == numbers.end()) {
                    numbers[{key, time}] = ++number;
                    in_order[{time, number}] = key;
                }
            } else if (chosen < 85) {
                queue.cancel(keys[key], time_at(time));
                if (known != numbers.end()) {
                    in_order.erase({time, known->second});
                    numbers.erase(known);
                }
            } else if (chosen < 86) {
                queue.forget(keys[key]);
                std::erase_if(in_order, [key](const auto& one) { return one.second == key; });
                std::erase_if(numbers,
                              [key](const auto& one) { return std::get<0>(one.first) == key; });
            } else {
                now += static_cast<std::int64_t>(random() % 5);
                while (queue.is_due(time_at(now))) {
                    const EventTime first = queue.first();
                    const PendingTimers* const of = &queue.first_key();
                    if (!queue.pop()) continue;
                    ASSERT_FALSE(in_order.empty()) << "seed " << seed;
                    const auto expected = *in_order.begin();
                    ASSERT_EQ(first.ns(), std::get<0>(expected.first)) << "seed " << seed;
                    ASSERT_EQ(of, &keys[expected.second]) << "seed " << seed;
                    in_order.erase(in_order.begin());
                    numbers.erase({expected.second, first.ns()});
                }
                if (!in_order.empty()) {
                    ASSERT_GT(std::get<0>(in_order.begin()->first), now) << "seed " << seed;
                }
            }
            ASSERT_EQ(queue.empty(), in_order.empty()) << "seed " << seed;
        }
        std::size_t left = 0;
        for (const PendingTimers& key : keys) left += key.event.size();
        ASSERT_EQ(left, in_order.size()) << "seed " << seed;
    }
}

/// A heap of pending timers, and the table of their key.
constexpr std::size_t bytes_of_one = 24 + 16;

TEST(TimersOfKeys, HaveMemoryForThosePendingAlone) {
    PendingTimers key;
    TimerQueue<EventTime> queue;
    const auto bytes = [&] { return queue.bytes() + key.bytes(); };
    for (std::int64_t i = 0; i != 200'000; ++i) {  // one is pending
        queue.add(key, time_at(i));
        if (i != 0) queue.cancel(key, time_at(i - 1));
        ASSERT_LE(bytes(), 300 * bytes_of_one);
    }
    for (std::int64_t i = 0; i != 100'000; ++i) queue.add(key, time_at(2'000'000 - i));
    EXPECT_GE(bytes(), 100'000 * bytes_of_one);
    EXPECT_LE(bytes(), 2 * 3 * 100'000 * bytes_of_one);
    for (std::int64_t i = 0; i != 100'000; ++i) queue.cancel(key, time_at(2'000'000 - i));
    EXPECT_LE(bytes(), 2'000 * bytes_of_one);
}

}  // namespace
}  // namespace strid::window
