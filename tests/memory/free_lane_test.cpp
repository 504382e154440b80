// SPDX-License-Identifier: Apache-2.0
//
// The lane of a slab allocator against a model, by one thread that plays both sides: each given
// object is taken once, from the ring or from the overflow.
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/memory/free_lane.hpp>

#include "stress.hpp"

namespace strid::memory {
namespace {

struct Object {
    void* room_for_a_pointer = nullptr;
};

TEST(FreeLane, agrees_with_a_model_under_random_operations) {
    std::mt19937_64 random(test::test_seed());
    for (const std::size_t slots : {1U, 2U, 3U, 8U}) {
        FreeLane<> lane(slots);
        std::vector<Object> objects(64);
        std::vector<void*> out;  // the giver's
        std::set<void*> in_lane;
        for (Object& object : objects) out.push_back(&object);
        for (int step = 0; step < 5'000; ++step) {
            if (!out.empty() && random() % 8 != 0) {
                std::swap(out[random() % out.size()], out.back());
                lane.give(out.back());
                in_lane.insert(out.back());
                out.pop_back();
            } else {
                const std::size_t taken = lane.take_all([&](void* object) {
                    EXPECT_EQ(in_lane.erase(object), 1U) << "not in the lane, or taken twice";
                    out.push_back(object);
                });
                ASSERT_EQ(taken + in_lane.size(), taken) << "left in the lane";
            }
            std::set<void*> seen;
            lane.for_each_quiescent([&](void* object) { seen.insert(object); });
            ASSERT_EQ(seen, in_lane);
            ASSERT_TRUE(lane.is_valid());
        }
    }
}

TEST(FreeLane, its_check_finds_a_slot_without_an_object) {
    FreeLane<> lane(4);
    Object object;
    lane.give(&object);
    EXPECT_TRUE(lane.is_valid());
    lane.give(nullptr);
    EXPECT_FALSE(lane.is_valid());
}

}  // namespace
}  // namespace strid::memory
