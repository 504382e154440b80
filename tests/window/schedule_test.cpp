// SPDX-License-Identifier: Apache-2.0
//
// The schedule of windows against an ordered list, the states of keys that come and go against a
// map, and an insertion in the middle of a ring against a vector.
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/base/hash.hpp>
#include <strid/engine/window/structures/flat_ring.hpp>
#include <strid/engine/window/structures/schedule.hpp>
#include <strid/operator/keyed_state.hpp>

namespace strid::window {
namespace {

TEST(Schedule, GivesWhatIsDueInOrder) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        std::mt19937_64 random{seed};
        const std::int64_t stretch = seed % 3 == 0 ? 10 : seed % 3 == 1 ? 3'000 : INT64_C(1) << 40;
        Schedule<int> schedule;
        std::multimap<std::int64_t, int> model;  // items of the same number stay in order
        std::int64_t position = -5'000;
        for (int i = 0; i < 300; ++i) {
            for (std::uint64_t adds = random() % 4; adds > 0; --adds) {
                const auto due = position + static_cast<std::int64_t>(
                                                random() % static_cast<std::uint64_t>(stretch));
                schedule.add(due, i);
                model.emplace(due, i);
            }
            const auto end = position + static_cast<std::int64_t>(
                                            random() % static_cast<std::uint64_t>(stretch));
            std::int64_t due = 0;
            int item = 0;
            while (schedule.pop(end, due, item)) {
                ASSERT_FALSE(model.empty()) << "seed " << seed;
                ASSERT_EQ(due, model.begin()->first) << "seed " << seed;
                ASSERT_EQ(item, model.begin()->second) << "seed " << seed;
                ASSERT_LT(due, end);
                model.erase(model.begin());
                if (item % 7 == 0) {  // what comes out may be put back for later
                    schedule.add(due + 1 + item % 5, item + 1);
                    model.emplace(due + 1 + item % 5, item + 1);
                }
            }
            if (!model.empty()) {
                ASSERT_GE(model.begin()->first, end) << "seed " << seed;
            }
            ASSERT_EQ(schedule.position(), end);
            ASSERT_EQ(schedule.empty(), model.empty());
            position = end;
        }
    }
}

TEST(Schedule, HoldsTheEndsOfTime) {
    Schedule<int> schedule;
    schedule.add(INT64_MIN, 1);
    schedule.add(INT64_MAX - 1, 2);
    std::int64_t due = 0;
    int item = 0;
    EXPECT_TRUE(schedule.pop(INT64_MAX, due, item));
    EXPECT_EQ(due, INT64_MIN);
    EXPECT_TRUE(schedule.pop(INT64_MAX, due, item));
    EXPECT_EQ(due, INT64_MAX - 1);
    EXPECT_FALSE(schedule.pop(INT64_MAX, due, item));
}

RC_GTEST_PROP(FlatRing, InsertsAtTheGivenPosition, (const std::vector<std::uint8_t>& places)) {
    FlatRing<std::uint64_t> ring;
    std::vector<std::uint64_t> model;
    std::uint64_t value = 0;
    for (const std::uint8_t place : places) {
        if (place % 5 == 0 && !model.empty()) {
            ring.pop_front();
            model.erase(model.begin());
        }
        const std::size_t at = place % (model.size() + 1);
        ring.insert(ring.begin_position() + at, value);
        model.insert(model.begin() + static_cast<std::ptrdiff_t>(at), value++);
        RC_ASSERT(ring.is_valid());
        RC_ASSERT(ring.size() == model.size());
        for (std::size_t i = 0; i < model.size(); ++i) {
            RC_ASSERT(ring[ring.begin_position() + i] == model[i]);
        }
    }
}

}  // namespace
}  // namespace strid::window
