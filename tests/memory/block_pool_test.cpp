// SPDX-License-Identifier: Apache-2.0
//
// The block pool against counts that a model keeps, and a producer with consumers that is throttled
// by the pool alone and sleeps when it is refused.
#include <array>
#include <atomic>
#include <random>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/memory/block_pool.hpp>

#include "stress.hpp"

namespace strid::memory {
namespace {

TEST(BlockPool, a_block_is_a_line_of_header_and_an_aligned_payload) {
    BlockPool pool({.payload_bytes = 100, .capacity_blocks = 2, .lanes = 1});
    Block* const block = pool.try_lease();
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block->payload()) % cache_line_bytes, 0U);
    EXPECT_EQ(block->payload(), reinterpret_cast<std::byte*>(block) + cache_line_bytes);
    EXPECT_EQ(block->payload_bytes, 100U);
    EXPECT_EQ(block->home, &pool);
    EXPECT_EQ(block->references.load(), 1U);
    pool.give_back_local(block);
    EXPECT_TRUE(pool.is_valid());
}

TEST(BlockPool, refuses_beyond_its_capacity_until_a_block_comes_home) {
    BlockPool pool({.payload_bytes = 64, .capacity_blocks = 2, .lanes = 2, .bunch_blocks = 1});
    Block* const first = pool.try_lease();
    Block* const second = pool.try_lease();
    ASSERT_NE(first, nullptr);
    ASSERT_NE(second, nullptr);
    EXPECT_FALSE(pool.can_lease());
    EXPECT_EQ(pool.try_lease(), nullptr);
    EXPECT_TRUE(pool.release(second, 1));
    EXPECT_TRUE(pool.can_lease());
    EXPECT_EQ(pool.try_lease(), second);
    const PoolCounters counters = pool.counters();
    EXPECT_EQ(counters.leased, 3U);
    EXPECT_EQ(counters.returned, 1U);
    EXPECT_EQ(counters.high_water, 2U);
    EXPECT_EQ(counters.misses, 1U);
    EXPECT_EQ(counters.debt, 0U);
    EXPECT_TRUE(pool.is_valid());
}

TEST(BlockPool, only_the_last_reader_sends_a_multicast_block_home) {
    BlockPool pool({.payload_bytes = 64, .capacity_blocks = 1, .lanes = 3, .bunch_blocks = 1});
    Block* const block = pool.try_lease();
    block->references.store(3);
    EXPECT_FALSE(pool.release(block, 2));
    EXPECT_FALSE(pool.release(block, 0));
    EXPECT_FALSE(pool.can_lease());
    EXPECT_TRUE(pool.release(block, 1));
    EXPECT_TRUE(pool.can_lease());
}

TEST(BlockPool, debt_is_granted_counted_and_paid_back) {
    BlockPool pool({.payload_bytes = 64, .capacity_blocks = 1, .lanes = 1, .bunch_blocks = 1});
    std::vector<Block*> blocks;
    for (int i = 0; i < 5; ++i) blocks.push_back(pool.lease_in_debt());
    EXPECT_EQ(pool.counters().debt, 4U);
    EXPECT_TRUE(pool.is_valid());
    for (Block* const block : blocks) EXPECT_TRUE(pool.release(block, 0));
    EXPECT_TRUE(pool.can_lease());
    EXPECT_TRUE(pool.is_valid());  // among others: no more than twice the capacity is kept
    Block* const first = pool.try_lease();
    EXPECT_NE(first, nullptr);
    EXPECT_EQ(pool.try_lease(), nullptr);  // the one that is kept is for debt only
    Block* const second = pool.lease_in_debt();
    EXPECT_NE(std::find(blocks.begin(), blocks.end(), second), blocks.end());  // not a new one
    EXPECT_EQ(pool.counters().high_water, 5U);
}

TEST(BlockPool, pending_blocks_are_invisible_until_flushed_or_starved_for) {
    BlockPool pool({.payload_bytes = 64, .capacity_blocks = 2, .lanes = 1, .bunch_blocks = 8});
    Block* const first = pool.try_lease();
    Block* const second = pool.try_lease();
    EXPECT_TRUE(pool.release(first, 0));
    EXPECT_FALSE(pool.can_lease());
    EXPECT_FALSE(pool.take_starved());
    EXPECT_TRUE(pool.set_starved());
    EXPECT_TRUE(pool.release(second, 0));  // sees that the owner starves: publishes both
    EXPECT_TRUE(pool.take_starved());
    EXPECT_FALSE(pool.take_starved());
    EXPECT_TRUE(pool.can_lease());
    EXPECT_NE(pool.try_lease(), nullptr);
    EXPECT_NE(pool.try_lease(), nullptr);
}

TEST(BlockPool, an_owner_does_not_wait_when_blocks_came_back_meanwhile) {
    BlockPool pool({.payload_bytes = 64, .capacity_blocks = 1, .lanes = 1, .bunch_blocks = 8});
    Block* const block = pool.try_lease();
    EXPECT_EQ(pool.try_lease(), nullptr);
    pool.release(block, 0);
    pool.flush_lane(0);
    EXPECT_FALSE(pool.take_starved());
    EXPECT_FALSE(pool.set_starved());
    EXPECT_FALSE(pool.take_starved());
    EXPECT_EQ(pool.try_lease(), block);
}

TEST(BlockPool, frees_what_is_still_out_when_it_dies) {
    BlockPool pool({.payload_bytes = 1 << 16, .capacity_blocks = 3, .lanes = 2});
    static_cast<void>(pool.try_lease());
    Block* const in_lane = pool.try_lease();
    pool.release(in_lane, 1);
    EXPECT_TRUE(pool.is_valid());
}

TEST(BlockPool, does_not_take_a_payload_that_it_cannot_describe) {
    EXPECT_THROW(BlockPool({.payload_bytes = std::size_t{1} << 32}), std::length_error);
}

TEST(BlockPool, its_check_finds_a_block_with_a_foreign_count) {
    BlockPool pool({.payload_bytes = 64, .capacity_blocks = 2, .lanes = 1});
    Block* const block = pool.try_lease();
    pool.give_back_local(block);
    block->references.store(1);
    EXPECT_FALSE(pool.is_valid());
    block->references.store(0);
    EXPECT_TRUE(pool.is_valid());
}

// The obvious implementation: which lane or reader holds which block, and plain numbers.
TEST(BlockPool, agrees_with_a_model_under_random_operations) {
    std::mt19937_64 random(test::test_seed());
    for (int round = 0; round < 100; ++round) {
        const std::size_t capacity = 1 + random() % 12;
        const std::size_t lanes = 1 + random() % 3;
        BlockPool pool(
            {.payload_bytes = 64, .capacity_blocks = capacity, .lanes = lanes, .bunch_blocks = 1});
        std::vector<Block*> out;
        PoolCounters model;
        std::uint64_t unseen = 0;  // released, but not collected by the owner yet
        const auto collect = [&] {
            model.high_water = std::max(model.high_water, model.out());
            model.returned += unseen;
            unseen = 0;
        };
        std::uint64_t at_home = 1;  // free blocks, as the owner counts them
        std::uint64_t acquired = 1;
        for (int step = 0; step < 300; ++step) {
            const auto choice = random() % 8;
            if (choice < 5) {
                const bool in_debt = choice == 0;
                if (at_home == 0 || acquired - at_home >= capacity) {
                    const std::uint64_t surplus =
                        acquired > 2 * capacity ? std::min(acquired - 2 * capacity, unseen) : 0;
                    at_home += unseen - surplus;
                    acquired -= surplus;
                    collect();
                }
                const bool refused = acquired - at_home >= capacity;
                if (at_home == 0 && (!refused || in_debt)) {
                    ++acquired;
                    ++at_home;
                }
                Block* const block = in_debt ? pool.lease_in_debt() : pool.try_lease();
                if (refused) {
                    ++model.misses;
                    ASSERT_EQ(block != nullptr, in_debt);
                    if (!in_debt) continue;
                    ++model.debt;
                }
                ASSERT_NE(block, nullptr);
                --at_home;
                ++model.leased;
                model.high_water = std::max(model.high_water, model.out());
                ASSERT_EQ(std::count(out.begin(), out.end(), block), 0);
                out.push_back(block);
            } else if (!out.empty()) {
                const std::size_t victim = random() % out.size();
                ASSERT_TRUE(pool.release(out[victim], random() % lanes));
                out.erase(out.begin() + static_cast<std::ptrdiff_t>(victim));
                ++unseen;
            }
            ASSERT_TRUE(pool.is_valid());
            ASSERT_EQ(pool.counters(), model);
        }
    }
}

struct Payload {
    std::uint64_t sequence;
    std::uint64_t square;
};

// One producer multicasts to two consumers through tiny mailboxes; it sleeps on a semaphore
// whenever the pool refuses, so one lost wake-up would hang the test.
TEST(BlockPool, stress_back_pressure_and_wake_ups_between_three_threads) {
    const test::Watchdog watchdog;
    const std::uint64_t count = 100'000 / test::work_divisor;
    constexpr std::size_t consumers = 2;
    constexpr std::size_t slots = 64;
    BlockPool pool({.payload_bytes = sizeof(Payload), .capacity_blocks = 8, .lanes = consumers});
    struct Mailbox {
        std::array<std::atomic<Block*>, slots> slot{};
    };
    std::array<Mailbox, consumers> mailboxes;
    std::counting_semaphore<> wake_producer{0};
    std::array<std::uint64_t, consumers> sums{};

    const auto consume = [&](std::size_t self) {
        for (std::uint64_t i = 0; i < count; ++i) {
            std::atomic<Block*>& slot = mailboxes[self].slot[i % slots];
            Block* block = nullptr;
            for (int tries = 0; (block = slot.exchange(nullptr)) == nullptr; ++tries) {
                if (tries == 0) {  // about to wait
                    pool.flush_lane(self);
                    if (pool.take_starved()) wake_producer.release();
                }
                std::this_thread::yield();
            }
            const auto* const payload = reinterpret_cast<const Payload*>(block->payload());
            if (payload->square == payload->sequence * payload->sequence) sums[self] += i;
            if (pool.release(block, self) && pool.take_starved()) wake_producer.release();
        }
        pool.flush_lane(self);
        if (pool.take_starved()) wake_producer.release();
    };
    std::thread first(consume, 0);
    std::thread second(consume, 1);
    for (std::uint64_t i = 0; i < count; ++i) {
        Block* block = nullptr;
        while ((block = pool.try_lease()) == nullptr) {
            if (pool.set_starved()) wake_producer.acquire();
        }
        new (block->payload()) Payload{i, i * i};
        block->references.store(consumers, std::memory_order_relaxed);
        for (Mailbox& mailbox : mailboxes) {
            // Never occupied: fewer blocks than slots are out.
            ASSERT_EQ(mailbox.slot[i % slots].exchange(block), nullptr);
        }
    }
    first.join();
    second.join();
    EXPECT_EQ(sums[0], count * (count - 1) / 2);
    EXPECT_EQ(sums[1], count * (count - 1) / 2);
    EXPECT_TRUE(pool.is_valid());
    EXPECT_EQ(pool.counters().leased, count);
    EXPECT_LE(pool.counters().high_water, 8U);
}

}  // namespace
}  // namespace strid::memory
