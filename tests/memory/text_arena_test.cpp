// SPDX-License-Identifier: Apache-2.0
//
// Text chunks: their holders, their way home, and the thread on which the last reference is
// dropped.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <strid/memory/text_arena.hpp>

#include "stress.hpp"

namespace strid::memory {
namespace {

static_assert(std::is_nothrow_move_constructible_v<TextReference>);
static_assert(std::is_nothrow_move_assignable_v<TextReference>);
static_assert(sizeof(TextReference) == sizeof(void*));

TEST(TextPool, leases_up_to_its_capacity_and_reuses_what_comes_home) {
    TextPool pool(1000, 2);
    TextReference first = pool.try_lease();
    TextReference second = pool.try_lease();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->capacity(), 1000U);
    EXPECT_EQ(first->bytes().size(), 1000U);
    std::memset(first->bytes().data(), 'a', 1000);
    std::memset(second->bytes().data(), 'b', 1000);
    EXPECT_EQ(first->bytes()[999], 'a');
    EXPECT_FALSE(pool.try_lease());
    const TextChunk* const chunk = first.get();
    first.reset();
    EXPECT_FALSE(first);
    EXPECT_EQ(pool.try_lease().get(), chunk);
    EXPECT_TRUE(pool.is_valid());
    EXPECT_EQ(pool.counters().misses, 1U);
    EXPECT_EQ(pool.counters().leased, 3U);
    EXPECT_EQ(pool.counters().high_water, 2U);
}

TEST(TextPool, a_chunk_is_out_as_long_as_one_copy_of_its_reference_lives) {
    TextPool pool(64, 1);
    TextReference first = pool.try_lease();
    TextReference second = first;
    TextReference third = std::move(first);
    EXPECT_FALSE(first);
    EXPECT_EQ(second, third);
    EXPECT_EQ(second.use_count(), 2U);
    TextReference& alias = third;
    third = alias;  // itself
    second = TextReference{};
    EXPECT_EQ(third.use_count(), 1U);
    EXPECT_FALSE(pool.try_lease());
    third.reset();
    third.reset();
    EXPECT_TRUE(pool.try_lease());
}

TEST(TextPool, a_large_chunk_is_beyond_the_capacity_and_not_reused) {
    TextPool pool(64, 1);
    TextReference normal = pool.try_lease();
    TextReference large = pool.lease_large(1 << 20);
    EXPECT_GE(large->capacity(), std::size_t{1} << 20);
    large->bytes().back() = 'x';
    large.reset();
    EXPECT_FALSE(pool.try_lease());
    EXPECT_EQ(pool.counters().debt, 1U);
    EXPECT_EQ(pool.counters().out(), 1U);
    EXPECT_TRUE(pool.is_valid());
    EXPECT_THROW(static_cast<void>(pool.lease_large(SIZE_MAX - 8)), std::bad_alloc);
}

TEST(TextPool, chunks_outlive_their_pool) {
    std::optional<TextPool> pool(std::in_place, 64, 3);
    TextReference at_home = pool->try_lease();
    TextReference kept = pool->try_lease();
    TextReference also_kept = pool->try_lease();
    TextReference large = pool->lease_large(500);
    at_home.reset();
    kept->bytes()[63] = 'k';
    pool.reset();
    EXPECT_EQ(kept->bytes()[63], 'k');
    large.reset();
    kept.reset();
    also_kept.reset();  // the address sanitizer checks that all is freed, once
}

TEST(TextPool, agrees_with_a_model_under_random_operations) {
    std::mt19937_64 random(test::test_seed());
    for (int round = 0; round < 100; ++round) {
        const std::size_t capacity = 1 + random() % 5;
        TextPool pool(128, capacity);
        std::vector<TextReference> held;
        const auto chunks_out = [&] {
            std::vector<const TextChunk*> chunks;
            for (const TextReference& reference : held) chunks.push_back(reference.get());
            std::sort(chunks.begin(), chunks.end());
            return static_cast<std::size_t>(std::unique(chunks.begin(), chunks.end()) -
                                            chunks.begin());
        };
        for (int step = 0; step < 200; ++step) {
            const auto choice = random() % 4;
            if (choice == 0) {
                const bool expected = chunks_out() < capacity;
                TextReference reference = pool.try_lease();
                ASSERT_EQ(static_cast<bool>(reference), expected);
                if (reference) {
                    ASSERT_EQ(std::count(held.begin(), held.end(), reference), 0);
                    held.push_back(std::move(reference));
                }
            } else if (choice == 1 && !held.empty()) {
                held.push_back(TextReference(held[random() % held.size()]));
            } else if (!held.empty()) {
                held[random() % held.size()] = std::move(held.back());
                held.pop_back();
            }
            for (const TextReference& reference : held) {
                ASSERT_EQ(reference.use_count(), static_cast<std::size_t>(std::count(
                                                     held.begin(), held.end(), reference)));
            }
            ASSERT_TRUE(pool.is_valid());
        }
    }
}

// A source leases and writes, three readers copy references, read and drop them; the pool is
// destroyed first.
TEST(TextPool, stress_references_dropped_on_many_threads) {
    const test::Watchdog watchdog;
    const std::uint64_t count = 20'000 / test::work_divisor;
    constexpr std::size_t readers = 3;
    std::mutex mutex;
    std::vector<TextReference> shared;
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> mistakes{0};
    std::vector<std::thread> threads;
    const std::uint64_t seed = test::test_seed();
    for (std::size_t reader = 0; reader < readers; ++reader) {
        threads.emplace_back([&, reader] {
            std::mt19937_64 random(seed + reader);
            for (bool last = false; !last;) {
                last = done.load();
                TextReference mine;
                std::this_thread::yield();
                {
                    const std::lock_guard lock(mutex);
                    if (shared.empty()) continue;
                    last = false;
                    mine = shared[random() % shared.size()];
                    if (random() % 2 == 0) {
                        std::swap(shared[random() % shared.size()], shared.back());
                        shared.pop_back();
                    }
                }
                const TextReference copy = mine;
                const auto bytes = copy->bytes();
                if (std::count(bytes.begin(), bytes.end(), bytes[0]) != std::ssize(bytes)) {
                    ++mistakes;
                }
            }
        });
    }
    {
        TextPool pool(64, 16);
        for (std::uint64_t i = 0; i < count;) {
            TextReference chunk = i % 64 == 0 ? pool.lease_large(64) : pool.try_lease();
            if (!chunk) {
                std::this_thread::yield();
                continue;
            }
            std::memset(chunk->bytes().data(), static_cast<char>(i), chunk->capacity());
            const std::lock_guard lock(mutex);
            shared.push_back(std::move(chunk));
            ++i;
        }
    }
    done.store(true);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(mistakes.load(), 0U);
    EXPECT_TRUE(shared.empty());
}

}  // namespace
}  // namespace strid::memory
