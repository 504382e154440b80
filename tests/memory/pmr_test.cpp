// SPDX-License-Identifier: Apache-2.0
//
// Standard containers over the allocators of this room, and containers destroyed on another thread.
#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/memory/pmr.hpp>

#include "stress.hpp"

namespace strid::memory {
namespace {

template <class Map>
void fill_and_check(Map& map) {
    for (int i = 0; i < 3000; ++i) map[i % 1000] += i;
    for (int i = 0; i < 1000; i += 2) map.erase(i);
    ASSERT_EQ(map.size(), 500U);
    for (const auto& [key, value] : map) ASSERT_EQ(value, 3 * key + 3000);
}

TEST(MemoryResource, containers_over_a_slab_allocator_leave_nothing_behind) {
    SlabAllocator slab({.lanes = 1});
    SlabResource resource(slab);
    {
        std::pmr::map<int, int> map(&resource);
        fill_and_check(map);
        std::pmr::vector<std::pmr::string> strings(&resource);
        for (int i = 0; i < 2000; ++i) strings.emplace_back(static_cast<std::size_t>(i), 's');
        EXPECT_EQ(strings[1999].get_allocator().resource(), &resource);
        EXPECT_GT(slab.counters().out(), 2000U);
        EXPECT_TRUE(slab.is_valid());
    }
    EXPECT_EQ(slab.counters().out(), 0U);
    EXPECT_TRUE(slab.is_valid());
}

TEST(MemoryResource, containers_over_a_static_arena_keep_it_until_the_end) {
    StaticArena arena({.capacity_bytes = 1 << 20, .growth_bytes = 1 << 16});
    ArenaResource resource(arena);
    std::pmr::unordered_map<int, int> map(&resource);
    fill_and_check(map);
    EXPECT_GE(arena.counters().out(), 1000U);
}

TEST(MemoryResource, is_equal_for_the_same_allocator_only) {
    SlabAllocator first({.lanes = 1});
    SlabAllocator second({.lanes = 1});
    StaticArena arena({.capacity_bytes = 16});
    EXPECT_TRUE(SlabResource(first).is_equal(SlabResource(first)));
    EXPECT_FALSE(SlabResource(first).is_equal(SlabResource(second)));
    EXPECT_FALSE(SlabResource(first).is_equal(ArenaResource(arena)));
    EXPECT_TRUE(SlabStlAllocator<int>(first) == SlabStlAllocator<long>(first));
    EXPECT_FALSE(SlabStlAllocator<int>(first) == SlabStlAllocator<int>(second));
}

TEST(StlAllocator, containers_over_slab_and_arena) {
    SlabAllocator slab({.lanes = 1});
    {
        using Pair = std::pair<const int, int>;
        std::map<int, int, std::less<>, SlabStlAllocator<Pair>> map{SlabStlAllocator<Pair>(slab)};
        fill_and_check(map);
        EXPECT_EQ(slab.counters().out(), 500U);
    }
    EXPECT_EQ(slab.counters().out(), 0U);

    StaticArena arena({.capacity_bytes = 1 << 16});
    std::list<int, ArenaStlAllocator<int>> list{ArenaStlAllocator<int>(arena)};
    for (int i = 0; i < 100; ++i) list.push_back(i);
    EXPECT_EQ(list.back(), 99);
    EXPECT_THROW(static_cast<void>(ArenaStlAllocator<int>(arena).allocate(1 << 20)),
                 std::bad_alloc);
    EXPECT_THROW(static_cast<void>(SlabStlAllocator<int>(slab).allocate(SIZE_MAX / 2)),
                 std::bad_array_new_length);
}

TEST(FreeingThread, containers_destroyed_on_another_thread_return_over_its_lane) {
    SlabAllocator slab({.lanes = 2});
    SlabAllocator other({.lanes = 1});
    SlabResource resource(slab);
    std::pmr::vector<std::pmr::string> strings(&resource);
    for (std::size_t i = 0; i < 1000; ++i) strings.emplace_back(100 + i, 's');
    const auto leased = slab.counters().leased;
    std::thread([&slab, &other, moved = std::move(strings)]() mutable {
        const FreeingThread scope(slab, 1);
        const FreeingThread inner(other, 0);  // of another allocator: does not hide the outer one
        std::pmr::vector<std::pmr::string> dying(std::move(moved));
    }).join();
    EXPECT_EQ(slab.counters().leased, leased);
    EXPECT_GE(slab.counters().out(), 1001U);  // all in the lane
    EXPECT_TRUE(slab.is_valid());
    slab.collect();
    EXPECT_EQ(slab.counters().out(), 0U);
    EXPECT_EQ(other.counters(), PoolCounters{});
}

/// Counts the pieces that are out, and stores each with its size.
class WatchedResource final : public std::pmr::memory_resource {
  public:
    [[nodiscard]] std::size_t out() const { return pieces_.size(); }

  private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        void* const piece = std::pmr::new_delete_resource()->allocate(bytes, alignment);
        pieces_[piece] = {bytes, alignment};
        return piece;
    }
    void do_deallocate(void* piece, std::size_t bytes, std::size_t alignment) override {
        const auto found = pieces_.find(piece);
        ASSERT_NE(found, pieces_.end());
        EXPECT_EQ(found->second, std::pair(bytes, alignment));
        pieces_.erase(found);
        std::pmr::new_delete_resource()->deallocate(piece, bytes, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }

    std::map<void*, std::pair<std::size_t, std::size_t>> pieces_;
};

// The obvious implementation: a list of pieces with their contents.
TEST(BlockResource, agrees_with_a_model_under_random_operations) {
    constexpr std::size_t payload = 256;
    std::mt19937_64 random(test::test_seed());
    BlockPool pool({.payload_bytes = payload, .capacity_blocks = 8, .lanes = 1});
    WatchedResource upstream;
    BlockMemory memory(pool, upstream);
    BlockResource resource(memory);
    struct Piece {
        unsigned char* bytes;
        std::size_t size;
        std::size_t alignment;
        unsigned char fill;
        bool in_a_block;
    };
    std::vector<Piece> pieces;
    for (int step = 0; step < 5'000; ++step) {
        if (pieces.empty() || random() % 9 < (step / 500 % 2 == 0 ? 6 : 3)) {
            const std::size_t size = 1 + random() % (2 * payload);
            const std::size_t alignment = std::size_t{1} << random() % 8;
            auto* const bytes = static_cast<unsigned char*>(resource.allocate(size, alignment));
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % alignment, 0U);
            const auto fill = static_cast<unsigned char>(random());
            std::fill_n(bytes, size, fill);
            pieces.push_back(
                {bytes, size, alignment, fill, size > 128 && size <= 256 && alignment <= 64});
        } else {
            std::swap(pieces[random() % pieces.size()], pieces.back());
            const Piece piece = pieces.back();
            pieces.pop_back();
            ASSERT_EQ(std::count(piece.bytes, piece.bytes + piece.size, piece.fill),
                      static_cast<std::ptrdiff_t>(piece.size));
            resource.deallocate(piece.bytes, piece.size, piece.alignment);
        }
        const auto in_blocks = static_cast<std::size_t>(std::count_if(
            pieces.begin(), pieces.end(), [](const Piece& p) { return p.in_a_block; }));
        ASSERT_EQ(pool.counters().out(), in_blocks);
        ASSERT_EQ(upstream.out(), pieces.size() - in_blocks);
        ASSERT_TRUE(pool.is_valid());
    }
    EXPECT_GT(pool.counters().debt, 0U);
    for (const Piece& piece : pieces) resource.deallocate(piece.bytes, piece.size, piece.alignment);
    EXPECT_EQ(pool.counters().out(), 0U);
    EXPECT_EQ(upstream.out(), 0U);
}

using Chunk = std::array<std::uint64_t, 30>;  // a list's node of it is a block and less than one

TEST(BlockResource, containers_destroyed_on_another_thread_return_over_its_lane) {
    BlockPool pool({.payload_bytes = 256, .capacity_blocks = 100, .lanes = 2, .bunch_blocks = 64});
    BlockMemory memory(pool);
    BlockResource resource(memory);
    std::pmr::list<Chunk> chunks(&resource);
    for (std::uint64_t i = 0; i < 100; ++i) chunks.push_back({i});
    ASSERT_EQ(pool.counters().out(), 100U);
    EXPECT_FALSE(pool.can_lease());
    std::thread([&pool, moved = std::move(chunks)]() mutable {
        const FreeingThread scope(pool, 1);
        std::pmr::list<Chunk> dying(std::move(moved));
    }).join();
    EXPECT_EQ(pool.counters().returned, 0U);  // all in the lane
    EXPECT_TRUE(pool.is_valid());
    EXPECT_TRUE(pool.can_lease());
    EXPECT_EQ(pool.counters().out(), 0U);
}

TEST(BlockStlAllocator, a_container_of_the_size_of_blocks) {
    BlockPool pool({.payload_bytes = 256, .capacity_blocks = 4, .lanes = 1});
    WatchedResource upstream;
    BlockMemory memory(pool, upstream);
    {
        std::list<Chunk, BlockStlAllocator<Chunk>> chunks{BlockStlAllocator<Chunk>(memory)};
        for (std::uint64_t i = 0; i < 50; ++i) chunks.push_back({i});
        EXPECT_EQ(pool.counters().out(), 50U);
        std::vector<int, BlockStlAllocator<int>> numbers{BlockStlAllocator<int>(memory)};
        numbers.resize(10'000, 7);
        EXPECT_EQ(upstream.out(), 1U);
        EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), 0), 70'000);
        EXPECT_EQ(chunks.back()[0], 49U);
    }
    EXPECT_EQ(pool.counters().out(), 0U);
    EXPECT_EQ(upstream.out(), 0U);
}

/// One thread makes lists, three destroy them, each over its own lane.
template <class Memory, class Home>
void stress_lists_that_die_elsewhere(Memory& memory, Home& home, std::uint64_t lists) {
    using List = std::pmr::list<Chunk>;
    constexpr std::size_t readers = 3;
    MemoryResource<Memory> resource(memory);
    std::vector<std::unique_ptr<channel::SpscRing<List*>>> rings;
    std::vector<std::uint64_t> sums(readers * 8);  // a line each
    std::vector<std::thread> threads;
    for (std::size_t reader = 0; reader < readers; ++reader) {
        rings.push_back(std::make_unique<channel::SpscRing<List*>>(64));
        threads.emplace_back([reader, &home, &ring = *rings.back(), &sum = sums[reader * 8]] {
            const FreeingThread scope(home, reader);
            List* list = nullptr;
            for (auto result = ring.try_pop(list); result != channel::PopResult::closed;
                 result = ring.try_pop(list)) {
                if (result == channel::PopResult::ok) {
                    const std::unique_ptr<List> owned(list);
                    for (const Chunk& chunk : *owned) sum += chunk.back();
                } else {
                    std::this_thread::yield();
                }
            }
        });
    }
    for (std::uint64_t i = 0; i < lists; ++i) {
        auto list = std::make_unique<List>(&resource);
        for (std::uint64_t size = 0; size < i % 5; ++size) list->emplace_back().fill(i);
        List* const sent = list.release();
        while (rings[i % readers]->try_push(sent) != channel::PushResult::ok) {
            std::this_thread::yield();
        }
    }
    for (const auto& ring : rings) ring->close();
    for (std::thread& thread : threads) thread.join();
    std::uint64_t sum = 0;
    std::uint64_t expected = 0;
    for (std::size_t reader = 0; reader < readers; ++reader) sum += sums[reader * 8];
    for (std::uint64_t i = 0; i < lists; ++i) expected += i % 5 * i;
    EXPECT_EQ(sum, expected);
    EXPECT_TRUE(home.is_valid());
}

TEST(FreeingThread, stress_lists_in_slabs_die_on_three_threads) {
    const test::Watchdog watchdog;
    SlabAllocator slab({.lanes = 3, .lane_slots = 16});  // the lanes overflow
    stress_lists_that_die_elsewhere(slab, slab, 60'000 / test::work_divisor);
    slab.collect();
    EXPECT_EQ(slab.counters().out(), 0U);
}

TEST(FreeingThread, stress_lists_in_blocks_die_on_three_threads) {
    const test::Watchdog watchdog;
    BlockPool pool({.payload_bytes = 256, .capacity_blocks = 32, .lanes = 3});
    BlockMemory memory(pool);
    stress_lists_that_die_elsewhere(memory, pool, 60'000 / test::work_divisor);
    // Each lane was published when its scope ended, so the owner finds every block.
    for (int i = 0; i < 32; ++i) EXPECT_NE(pool.try_lease(), nullptr);
    EXPECT_EQ(pool.counters().out(), 32U);
}

}  // namespace
}  // namespace strid::memory
