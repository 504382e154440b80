// SPDX-License-Identifier: Apache-2.0
//
// Blocks that are in no slab, and the pool that they and the slabs come from.
#include "large.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "heap.hpp"
#include "region_pool.hpp"
#include "thread_heap.hpp"

namespace strid::slab_malloc {
namespace {

unsigned char* get(std::size_t bytes, std::size_t alignment = 16, bool zero = false) {
    return static_cast<unsigned char*>(allocate_large(bytes, alignment, zero));
}
void put(void* memory) {
    release(no_heap, memory);
}

std::size_t resident_pages(const unsigned char* memory, std::size_t bytes) {
    std::vector<unsigned char> pages(bytes / page_bytes);
    EXPECT_EQ(mincore(const_cast<unsigned char*>(memory), bytes, pages.data()), 0);
    return static_cast<std::size_t>(
        std::count_if(pages.begin(), pages.end(), [](auto page) { return (page & 1) != 0; }));
}

TEST(LargeBlock, holds_its_bytes_at_every_size_and_alignment) {
    const std::vector<std::size_t> sizes{1,
                                         small_bytes_max + 1,
                                         unit_bytes,
                                         unit_bytes + 1,
                                         large_bytes_max,
                                         large_bytes_max + 1,
                                         region_bytes,
                                         region_bytes * 2 + 5};
    for (const std::size_t bytes : sizes) {
        for (std::size_t alignment = 16; alignment <= region_bytes * 4; alignment *= 4) {
            unsigned char* const block = get(bytes, alignment);
            ASSERT_NE(block, nullptr);
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0U);
            ASSERT_GE(block_bytes(block), bytes);
            block[0] = 1;
            block[bytes - 1] = 2;
            put(block);
        }
    }
}

TEST(LargeBlock, is_zero_where_that_is_asked_also_in_used_memory) {
    for (int round = 0; round < 3; ++round) {
        unsigned char* const block = get(200'000, 16, true);
        EXPECT_TRUE(std::all_of(block, block + 200'000, [](auto byte) { return byte == 0; }));
        std::memset(block, 0xAA, 200'000);
        put(block);
    }
}

TEST(LargeBlock, without_memory_is_null) {
    EXPECT_EQ(get(SIZE_MAX), nullptr);
    EXPECT_EQ(get(PTRDIFF_MAX), nullptr);
    EXPECT_EQ(get(std::size_t{1} << 60), nullptr);
    EXPECT_EQ(get(100, std::size_t{1} << 62), nullptr);
}

TEST(LargeBlock, grows_and_shrinks_in_place) {
    unsigned char* const block = get(unit_bytes * 4);
    std::memset(block, 7, unit_bytes * 4);
    ASSERT_EQ(resize_large(block, unit_bytes * 2), block);
    EXPECT_EQ(block_bytes(block), unit_bytes * 2);
    ASSERT_EQ(resize_large(block, unit_bytes * 3), block);
    EXPECT_EQ(block[unit_bytes * 2 - 1], 7);
    unsigned char* const behind = get(unit_bytes);
    EXPECT_EQ(behind, block + unit_bytes * 3);
    EXPECT_EQ(resize_large(block, unit_bytes * 5), nullptr);
    put(behind);
    put(block);
}

TEST(LargeBlock, of_great_size_moves_its_pages) {
    auto* block = get(large_bytes_max * 2);
    for (std::size_t at = 0; at < large_bytes_max * 2; at += page_bytes) {
        block[at] = static_cast<unsigned char>(at / page_bytes);
    }
    for (const std::size_t factor : {3U, 9U, 2U}) {
        block = static_cast<unsigned char*>(resize_large(block, large_bytes_max * factor));
        ASSERT_NE(block, nullptr);
        ASSERT_GE(block_bytes(block), large_bytes_max * factor);
        for (std::size_t at = 0; at < large_bytes_max * 2; at += page_bytes) {
            ASSERT_EQ(block[at], static_cast<unsigned char>(at / page_bytes));
        }
        block[large_bytes_max * factor - 1] = 1;
    }
    put(block);
}

TEST(RegionPool, gives_pages_back_when_it_is_purged) {
    unsigned char* const block = get(large_bytes_max);
    std::memset(block, 1, large_bytes_max);
    // Keeps the region, so that its pages can be examined.
    unsigned char* const other = get(unit_bytes);
    EXPECT_EQ(resident_pages(block, large_bytes_max), large_bytes_max / page_bytes);
    put(block);
    EXPECT_TRUE(region_pool.purge());
    EXPECT_EQ(resident_pages(block, large_bytes_max), 0U);
    EXPECT_EQ(region_pool.usage().units_dirty, 0U);
    EXPECT_FALSE(region_pool.purge());
    put(other);
}

TEST(RegionPool, keeps_no_more_dirty_pages_than_it_may) {
    std::vector<unsigned char*> blocks;
    for (int i = 0; i < 40; ++i) {
        blocks.push_back(get(large_bytes_max));
        std::memset(blocks.back(), 1, page_bytes);
    }
    const std::size_t regions = region_pool.usage().regions;
    EXPECT_GE(regions, 10U);
    for (unsigned char* const block : blocks) put(block);
    const RegionPool::Usage usage = region_pool.usage();
    EXPECT_LE(usage.units_dirty, (std::size_t{32} << 20) / unit_bytes + usage.units_in_use / 8 + 1);
    EXPECT_LE(usage.regions, 3U);
}

}  // namespace
}  // namespace strid::slab_malloc
