// SPDX-License-Identifier: Apache-2.0
//
// The pair channels, case by case: capacities, the end, ownership, reuse of memory.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <strid/engine/channel/shared_pointer_ring.hpp>
#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/engine/channel/unbounded_spsc.hpp>

namespace strid::channel {
namespace {

TEST(SpscRing, capacity_is_the_next_power_of_two) {
    EXPECT_EQ(SpscRing<int>(0).capacity(), 1U);
    EXPECT_EQ(SpscRing<int>(1).capacity(), 1U);
    EXPECT_EQ(SpscRing<int>(3).capacity(), 4U);
    EXPECT_EQ(SpscRing<int>(64).capacity(), 64U);
    EXPECT_EQ(FlaggedRing<int*>(5).capacity(), 8U);
}

TEST(SpscRing, slots_start_at_a_cache_line) {
    SpscRing<char> ring(3);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(ring.claim(1).data()) % cache_line_bytes, 0U);
    struct alignas(256) Wide {
        char bytes[256];
    };
    SpscRing<Wide> wide(2);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide.claim(1).data()) % 256, 0U);
}

/// A pop may write to the slots that it gives back (docs/design/0008), and to no other.
TEST(SpscRing, a_ring_of_several_lines_fills_and_empties_in_one_thread) {
    SpscRing<std::size_t> ring(64);
    for (std::size_t turn = 0; turn < 3; ++turn) {
        for (std::size_t i = 0; i < ring.capacity(); ++i) {
            ASSERT_EQ(ring.try_push(turn + i), PushResult::ok);
        }
        EXPECT_EQ(ring.try_push(std::size_t{0}), PushResult::full);
        EXPECT_TRUE(ring.claim(1).empty());
        for (std::size_t i = 0; i < ring.capacity(); ++i) {
            std::size_t item = 0;
            ASSERT_EQ(ring.try_pop(item), PopResult::ok);
            ASSERT_EQ(item, turn + i);
        }
        EXPECT_TRUE(ring.peek(1).empty());
        EXPECT_TRUE(ring.is_valid());
    }
}

TEST(SpscRing, a_refused_value_is_untouched) {
    SpscRing<std::string> ring(1);
    std::string first(100, 'a');
    std::string second(100, 'b');
    EXPECT_EQ(ring.try_push(std::move(first)), PushResult::ok);
    EXPECT_EQ(ring.try_push(std::move(second)), PushResult::full);
    EXPECT_EQ(second, std::string(100, 'b'));
    ring.close();
    EXPECT_EQ(ring.try_push(std::move(second)), PushResult::closed);
    EXPECT_EQ(second, std::string(100, 'b'));
}

TEST(SpscRing, closed_only_once_drained) {
    SpscRing<int> ring(4);
    EXPECT_EQ(ring.try_push(1), PushResult::ok);
    EXPECT_EQ(ring.try_push(2), PushResult::ok);
    ring.close();
    ring.close();
    EXPECT_EQ(ring.size(), 2U);
    EXPECT_TRUE(ring.claim(4).empty());
    EXPECT_FALSE(ring.drained());
    int out = 0;
    EXPECT_EQ(ring.try_pop(out), PopResult::ok);
    EXPECT_EQ(ring.try_pop(out), PopResult::ok);
    EXPECT_EQ(out, 2);
    EXPECT_EQ(ring.try_pop(out), PopResult::closed);
    EXPECT_TRUE(ring.drained());
    EXPECT_TRUE(ring.was_drained());
    EXPECT_EQ(ring.size(), 0U);
    EXPECT_EQ(ring.pushed(), 2U);
    EXPECT_TRUE(ring.is_valid());
}

TEST(SpscRing, closing_an_empty_ring_is_seen_by_a_consumer_that_looked_before) {
    SpscRing<int> ring(4);
    int out = 0;
    EXPECT_EQ(ring.try_pop(out), PopResult::empty);
    EXPECT_FALSE(ring.was_drained());
    ring.close();
    EXPECT_EQ(ring.try_pop(out), PopResult::closed);
}

TEST(SpscRing, a_batch_ends_at_the_end_of_the_array) {
    SpscRing<int> ring(4);
    ring.commit(ring.claim(3).size());
    ring.release(ring.peek(3).size());
    EXPECT_EQ(ring.claim(4).size(), 1U);
    ring.commit(1);
    EXPECT_EQ(ring.claim(4).size(), 3U);
    ring.commit(3);
    EXPECT_TRUE(ring.claim(1).empty());
    EXPECT_EQ(ring.peek(4).size(), 1U);
    ring.release(1);
    EXPECT_EQ(ring.peek(4).size(), 3U);
}

TEST(SpscRing, destroys_what_was_never_taken) {
    const auto shared = std::make_shared<int>(1);
    {
        SpscRing<std::shared_ptr<int>> ring(4);
        EXPECT_EQ(ring.try_push(shared), PushResult::ok);
        EXPECT_EQ(ring.try_push(shared), PushResult::ok);
        EXPECT_EQ(shared.use_count(), 3);
        UnboundedSpsc<std::shared_ptr<int>> queue({.segment_capacity = 1, .spare_segments = 1});
        for (int i = 0; i < 10; ++i) EXPECT_EQ(queue.try_push(shared), PushResult::ok);
        EXPECT_EQ(shared.use_count(), 13);
    }
    EXPECT_EQ(shared.use_count(), 1);
}

TEST(SpscRing, a_popped_item_is_not_kept_alive_by_its_slot) {
    SpscRing<std::shared_ptr<int>> ring(4);
    std::weak_ptr<int> seen;
    {
        auto item = std::make_shared<int>(1);
        seen = item;
        EXPECT_EQ(ring.try_push(std::move(item)), PushResult::ok);
    }
    std::shared_ptr<int> out;
    EXPECT_EQ(ring.try_pop(out), PopResult::ok);
    out.reset();
    EXPECT_TRUE(seen.expired());
}

TEST(SharedPointerRing, passes_ownership_without_touching_the_counter) {
    SharedPointerRing<int> ring(2);
    auto kept = std::make_shared<int>(7);
    std::shared_ptr<int> passed = kept;
    EXPECT_EQ(ring.try_push(std::move(passed)), PushResult::ok);
    EXPECT_EQ(passed, nullptr);
    EXPECT_EQ(kept.use_count(), 2);
    EXPECT_EQ(ring.try_push(kept), PushResult::ok);  // a copy: one share more
    EXPECT_EQ(kept.use_count(), 3);
    EXPECT_EQ(ring.try_push(kept), PushResult::full);
    EXPECT_EQ(kept.use_count(), 3);
    std::shared_ptr<int> out;
    EXPECT_EQ(ring.try_pop(out), PopResult::ok);
    EXPECT_EQ(out, kept);
    EXPECT_EQ(kept.use_count(), 3);
}

TEST(SharedPointerRing, null_is_an_item_like_any_other) {
    SharedPointerRing<int> ring(2);
    EXPECT_EQ(ring.try_push(nullptr), PushResult::ok);
    ring.close();
    auto out = std::make_shared<int>(1);
    EXPECT_EQ(ring.try_pop(out), PopResult::ok);
    EXPECT_EQ(out, nullptr);
    EXPECT_EQ(ring.try_pop(out), PopResult::closed);
    EXPECT_EQ(ring.try_push(nullptr), PushResult::closed);
}

TEST(UnboundedSpsc, takes_any_number_and_keeps_the_order) {
    UnboundedSpsc<int> queue({.segment_capacity = 4, .spare_segments = 2});
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(queue.try_push(i), PushResult::ok);
    queue.close();
    EXPECT_EQ(queue.segments_allocated(), 250U);
    int out = 0;
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(queue.try_pop(out), PopResult::ok);
        EXPECT_EQ(out, i);
    }
    EXPECT_EQ(queue.try_pop(out), PopResult::closed);
    EXPECT_TRUE(queue.drained());
    EXPECT_EQ(queue.try_push(1), PushResult::closed);
}

TEST(UnboundedSpsc, allocates_no_segment_in_the_steady_state) {
    UnboundedSpsc<int> queue({.segment_capacity = 8, .spare_segments = 4});
    int out = 0;
    for (int round = 0; round < 1000; ++round) {
        for (int i = 0; i < 20; ++i) EXPECT_EQ(queue.try_push(i), PushResult::ok);
        for (int i = 0; i < 20; ++i) EXPECT_EQ(queue.try_pop(out), PopResult::ok);
        EXPECT_EQ(queue.try_pop(out), PopResult::empty);
    }
    EXPECT_LE(queue.segments_allocated(), 5U);
}

}  // namespace
}  // namespace strid::channel
