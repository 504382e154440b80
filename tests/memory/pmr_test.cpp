// SPDX-License-Identifier: Apache-2.0
//
// Standard containers over the allocators of this room, and containers that die on another thread.
#include <list>
#include <map>
#include <memory_resource>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include <strid/memory/pmr.hpp>

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

}  // namespace
}  // namespace strid::memory
