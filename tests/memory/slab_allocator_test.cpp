// SPDX-License-Identifier: Apache-2.0
//
// The slab allocator: size classes by exhaustion, alignment, slabs given back, a model of what is
// allocated where, and one allocating with several freeing threads.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/memory/slab_allocator.hpp>

#include "stress.hpp"

namespace strid::memory {
namespace {

std::uintptr_t address(const void* memory) {
    return reinterpret_cast<std::uintptr_t>(memory);
}

TEST(SizeClasses, the_class_of_a_size_is_the_smallest_that_fits) {
    for (std::size_t bytes = 0; bytes <= SizeClasses::bytes_max; ++bytes) {
        const std::size_t index = SizeClasses::index_of(bytes);
        ASSERT_GE(SizeClasses::bytes_of(index), bytes);
        if (index > 0) {
            ASSERT_LT(SizeClasses::bytes_of(index - 1), std::max<std::size_t>(bytes, 1));
        }
        for (std::size_t alignment = 16; alignment <= 4096; alignment *= 2) {
            std::size_t expected = 0;
            while (expected < SizeClasses::count &&
                   (SizeClasses::bytes_of(expected) < bytes ||
                    SizeClasses::bytes_of(expected) % alignment != 0)) {
                ++expected;
            }
            ASSERT_EQ(SizeClasses::index_of(bytes, alignment), expected);
        }
    }
    for (std::size_t index = 8; index < SizeClasses::count; ++index) {
        EXPECT_LE(SizeClasses::bytes_of(index) * 4, SizeClasses::bytes_of(index - 1) * 5);
        EXPECT_EQ(SizeClasses::bytes_of(index) % 16, 0U);
    }
}

/// However small they are: a lane that is full links them through themselves.
TEST(SlabAllocator, objects_with_pages_of_their_own_come_home_over_a_full_lane) {
    SlabAllocator allocator({.lanes = 1, .lane_slots = 1});
    for (const std::size_t bytes : {0UL, 1UL, 7UL, 9UL}) {
        std::array<void*, 5> pieces{};
        for (void*& piece : pieces)
            piece = allocator.allocate(bytes, SlabAllocator::slab_bytes / 2);
        for (void* const piece : pieces) allocator.deallocate(piece, 0);
        allocator.collect();
        ASSERT_TRUE(allocator.is_valid());
    }
}

TEST(SlabAllocator, every_size_and_alignment_is_honoured) {
    SlabAllocator allocator({.lanes = 1});
    for (const std::size_t bytes : {0UL, 1UL, 15UL, 16UL, 17UL, 64UL, 65UL, 100UL, 129UL, 1000UL,
                                    4095UL, 4096UL, 4097UL, 10'000UL, 65'536UL, 1'000'000UL}) {
        for (std::size_t alignment = 1; alignment <= SlabAllocator::slab_bytes / 2;
             alignment *= 2) {
            std::array<void*, 3> pieces{};
            for (void*& piece : pieces) {
                piece = allocator.allocate(bytes, alignment);
                ASSERT_EQ(address(piece) % alignment, 0U);
                ASSERT_EQ(address(piece) % 16, 0U);
                ASSERT_GE(SlabAllocator::usable_bytes(piece), bytes);
                std::memset(piece, 0x5a, SlabAllocator::usable_bytes(piece));
            }
            ASSERT_TRUE(allocator.is_valid());
            allocator.deallocate(pieces[0], 0);
            allocator.deallocate_local(pieces[1]);
            allocator.deallocate(pieces[2], 0);
        }
    }
    allocator.collect();
    EXPECT_EQ(allocator.counters().out(), 0U);
    EXPECT_EQ(allocator.usage().large_acquired, allocator.usage().large_given_back);
    EXPECT_THROW(static_cast<void>(allocator.allocate(SIZE_MAX - 100)), std::bad_alloc);
    EXPECT_THROW(static_cast<void>(allocator.allocate(1, SlabAllocator::slab_bytes)),
                 std::bad_alloc);
    EXPECT_TRUE(allocator.is_valid());
}

TEST(SlabAllocator, null_is_ignored) {
    SlabAllocator allocator({.lanes = 1});
    allocator.deallocate(nullptr, 0);
    allocator.deallocate_local(nullptr);
    EXPECT_EQ(allocator.counters(), PoolCounters{});
}

TEST(SlabAllocator, chunks_of_a_size_lie_side_by_side_and_are_reused) {
    SlabAllocator allocator({.lanes = 1});
    const auto first = address(allocator.allocate(64));
    EXPECT_EQ(address(allocator.allocate(64)), first + 64);
    EXPECT_EQ(address(allocator.allocate(64)), first + 128);
    EXPECT_EQ(allocator.usage().slabs_held(), 1U);

    // Steady state: a queue of 500 objects never needs a second slab, however long it runs.
    std::vector<void*> queue(500, nullptr);
    for (int i = 0; i < 100'000; ++i) {
        void*& slot = queue[static_cast<std::size_t>(i) % queue.size()];
        allocator.deallocate(slot, 0);
        slot = allocator.allocate(64);
    }
    EXPECT_EQ(allocator.usage().slabs_held(), 1U);
    EXPECT_TRUE(allocator.is_valid());
}

TEST(SlabAllocator, empty_slabs_are_given_back_but_for_a_small_cache) {
    for (const bool local : {false, true}) {
        SlabAllocator allocator({.lanes = 1, .cached_slabs = 2});
        std::vector<void*> pieces;
        for (int i = 0; i < 10'000; ++i) pieces.push_back(allocator.allocate(256));
        EXPECT_GE(allocator.usage().slabs_held(), 39U);
        for (void* const piece : pieces) {
            local ? allocator.deallocate_local(piece) : allocator.deallocate(piece, 0);
        }
        allocator.collect();
        EXPECT_LE(allocator.usage().slabs_held(), 3U);  // the cache and the current one
        EXPECT_EQ(allocator.counters().out(), 0U);
        EXPECT_EQ(allocator.counters().high_water, 10'000U);
        EXPECT_TRUE(allocator.is_valid());
    }
}

TEST(SlabAllocator, a_lane_never_refuses) {
    SlabAllocator allocator({.lanes = 2, .cached_slabs = 0, .lane_slots = 4});
    std::vector<void*> pieces;
    for (int i = 0; i < 5'000; ++i) pieces.push_back(allocator.allocate(16));
    for (std::size_t i = 0; i < pieces.size(); ++i) allocator.deallocate(pieces[i], i % 2);
    EXPECT_TRUE(allocator.is_valid());
    EXPECT_EQ(allocator.counters().out(), 5'000U);
    allocator.collect();
    EXPECT_EQ(allocator.counters().out(), 0U);
    EXPECT_LE(allocator.usage().slabs_held(), 1U);
    EXPECT_TRUE(allocator.is_valid());
}

TEST(SlabAllocator, releases_what_was_never_freed) {
    SlabAllocator allocator({.lanes = 1});
    static_cast<void>(allocator.allocate(48));
    static_cast<void>(allocator.allocate(100'000));
    allocator.deallocate(allocator.allocate(48), 0);
}

#if STRID_ASSERT_LEVEL >= 1 && !defined(__SANITIZE_THREAD__)
TEST(SlabAllocatorDeathTest, a_double_free_is_found) {
    SlabAllocator allocator({.lanes = 1});
    void* const piece = allocator.allocate(48);
    allocator.deallocate_local(piece);
    EXPECT_DEATH(allocator.deallocate_local(piece), "free_bits");
}
#endif

// The obvious implementation: a map from address to length and content.
TEST(SlabAllocator, agrees_with_a_model_under_random_operations) {
    std::mt19937_64 random(test::test_seed());
    for (int round = 0; round < 20; ++round) {
        SlabAllocator allocator({.lanes = 3,
                                 .cached_slabs = random() % 3,
                                 .lane_slots = std::size_t{1} << random() % 8});
        struct Piece {
            std::size_t bytes;
            unsigned char fill;
        };
        std::map<std::uintptr_t, Piece> model;
        std::uint64_t leased = 0;
        for (int step = 0; step < 4'000; ++step) {
            const bool growing = step / 1000 % 2 == 0;
            if (random() % 8 < (growing ? 6U : 2U)) {
                const std::size_t bytes = random() % (random() % 50 == 0 ? 9'000 : 500);
                const std::size_t alignment = std::size_t{1} << random() % 8;
                auto* const memory =
                    static_cast<unsigned char*>(allocator.allocate(bytes, alignment));
                const auto fill = static_cast<unsigned char>(random());
                ASSERT_EQ(address(memory) % alignment, 0U);
                const auto next = model.lower_bound(address(memory));
                ASSERT_TRUE(next == model.end() || address(memory) + bytes <= next->first);
                ASSERT_TRUE(next == model.begin() ||
                            std::prev(next)->first + std::prev(next)->second.bytes <=
                                address(memory));
                std::memset(memory, fill, bytes);
                model[address(memory)] = {bytes, fill};
                ++leased;
            } else if (!model.empty()) {
                auto victim = model.lower_bound(random() % 2 == 0
                                                    ? model.begin()->first + random() % 1'000'000
                                                    : model.rbegin()->first);
                if (victim == model.end()) victim = model.begin();
                auto* const memory = reinterpret_cast<unsigned char*>(victim->first);
                ASSERT_EQ(std::count(memory, memory + victim->second.bytes, victim->second.fill),
                          static_cast<std::ptrdiff_t>(victim->second.bytes));
                const std::size_t way = random() % 4;
                way == 3 ? allocator.deallocate_local(memory) : allocator.deallocate(memory, way);
                model.erase(victim);
            }
            if (step % 64 == 0) {
                ASSERT_TRUE(allocator.is_valid());
            }
        }
        allocator.collect();
        ASSERT_TRUE(allocator.is_valid());
        ASSERT_EQ(allocator.counters().leased, leased);
        ASSERT_EQ(allocator.counters().out(), model.size());
    }
}

struct Task {
    std::uint64_t sequence;
    std::uint64_t copies[7];
};

// One thread allocates tasks of mixed sizes, three check and free them.
TEST(SlabAllocator, stress_one_allocating_and_three_freeing_threads) {
    const test::Watchdog watchdog;
    const std::uint64_t count = 600'000 / test::work_divisor;
    constexpr std::size_t consumers = 3;
    std::mt19937_64 random(test::test_seed());
    SlabAllocator allocator({.lanes = consumers, .cached_slabs = 1, .lane_slots = 64});
    std::vector<std::unique_ptr<channel::SpscRing<Task*>>> rings;
    std::array<std::uint64_t, consumers> sums{};
    std::vector<std::thread> threads;
    for (std::size_t self = 0; self < consumers; ++self) {
        rings.push_back(std::make_unique<channel::SpscRing<Task*>>(512));
        threads.emplace_back([&allocator, self, &ring = *rings.back(), &sum = sums[self]] {
            Task* task = nullptr;
            while (true) {
                const channel::PopResult result = ring.try_pop(task);
                if (result == channel::PopResult::closed) return;
                if (result == channel::PopResult::empty) {
                    std::this_thread::yield();
                    continue;
                }
                bool sound = true;
                for (const std::uint64_t copy : task->copies) sound &= copy == task->sequence;
                if (sound) sum += task->sequence;
                allocator.deallocate(task, self);
            }
        });
    }
    for (std::uint64_t sequence = 0; sequence < count; ++sequence) {
        const std::size_t extra = random() % 512;
        auto* const task =
            new (allocator.allocate(sizeof(Task) + extra, alignof(Task))) Task{sequence, {}};
        std::fill(std::begin(task->copies), std::end(task->copies), sequence);
        while (rings[sequence % consumers]->try_push(task) != channel::PushResult::ok) {
            std::this_thread::yield();
        }
    }
    for (auto& ring : rings) ring->close();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(sums[0] + sums[1] + sums[2], count * (count - 1) / 2);
    EXPECT_TRUE(allocator.is_valid());
    allocator.collect();
    EXPECT_EQ(allocator.counters().leased, count);
    EXPECT_EQ(allocator.counters().out(), 0U);
    EXPECT_TRUE(allocator.is_valid());
}

}  // namespace
}  // namespace strid::memory
