// SPDX-License-Identifier: Apache-2.0
//
// The heaps of threads, called as ordinary functions beside the malloc of the test: random
// operations against a model, blocks that other threads free, threads that end, memory that goes
// back. The same under the thread sanitizer, which sees each block's contents as well.
#include "heap.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "classes.hpp"
#include "large.hpp"
#include "region_pool.hpp"
#include "tests/memory/stress.hpp"
#include "thread_heap.hpp"

namespace strid::slab_malloc {
namespace {

using test::test_seed;
using test::Watchdog;
using test::work_divisor;

void* get(std::size_t bytes) {
    if (bytes > small_bytes_max) return allocate_large(bytes, 16, false);
    const std::size_t index = class_of(bytes);
    if (void* const memory = pop(*thread_heap, index)) return memory;
    return thread_heap == &no_heap ? allocate_without_heap(index)
                                   : allocate_after_refill(*thread_heap, index);
}
void put(void* memory) {
    release(*thread_heap, memory);
}

/// A thread whose heap is left at its end, as pthread's destructor does in the library.
template <class Work>
std::thread thread_with_heap(Work work) {
    return std::thread([work = std::move(work)] {
        work();
        leave_heap();
    });
}

/// A block, full of bytes that follow from its address and its mark.
struct Block {
    unsigned char* memory = nullptr;
    std::size_t bytes = 0;
    std::uint64_t mark = 0;

    static Block make(std::size_t bytes, std::uint64_t mark) {
        Block block{static_cast<unsigned char*>(get(bytes)), bytes, mark};
        if (block.memory == nullptr) throw std::bad_alloc{};
        for (const std::size_t at : block.places()) block.memory[at] = block.byte(at);
        return block;
    }
    [[nodiscard]] bool is_whole() const {
        const auto all = places();
        return std::all_of(all.begin(), all.end(),
                           [this](std::size_t at) { return memory[at] == byte(at); });
    }

  private:
    [[nodiscard]] unsigned char byte(std::size_t at) const {
        return static_cast<unsigned char>((mark * 31 + at * 7) >> 2);
    }
    // Every byte of small blocks, of others every 61st and the last.
    [[nodiscard]] std::vector<std::size_t> places() const {
        std::vector<std::size_t> all;
        const std::size_t step = bytes <= 256 ? 1 : 61;
        for (std::size_t at = 0; at < bytes; at += step) all.push_back(at);
        if (bytes != 0) all.push_back(bytes - 1);
        return all;
    }
};

std::size_t some_bytes(std::mt19937_64& random) {
    const std::size_t kind = random() % 100;
    if (kind < 60) return random() % 129;
    if (kind < 90) return random() % 2048;
    if (kind < 98) return random() % (small_bytes_max + 1);
    return random() % (std::size_t{300} << 10);
}

TEST(SlabHeap, a_thread_without_a_heap_has_a_valid_one) {
    std::thread([] {
        EXPECT_TRUE(is_valid(*thread_heap));
        put(get(std::size_t{300} << 10));  // a large block needs none
        EXPECT_TRUE(is_valid(*thread_heap));
    }).join();
}

TEST(SlabHeap, blocks_do_not_overlap_keep_their_contents_and_are_aligned) {
    const std::uint64_t seed = test_seed();
    std::mt19937_64 random(seed);
    std::map<std::uintptr_t, Block> model;  // by address
    std::vector<std::uintptr_t> addresses;
    for (std::size_t step = 0; step < 200'000 / work_divisor; ++step) {
        const bool grows = step / 20'000 % 2 == 0;
        if (addresses.empty() || random() % 100 < (grows ? 60U : 40U)) {
            const Block block = Block::make(some_bytes(random), random());
            const auto address = reinterpret_cast<std::uintptr_t>(block.memory);
            ASSERT_EQ(address % 16, 0U);
            ASSERT_GE(block_bytes(block.memory), block.bytes);
            const auto after = model.lower_bound(address);
            if (after != model.end()) {
                ASSERT_LE(address + block.bytes, after->first);
            }
            if (after != model.begin()) {
                const auto before = std::prev(after);
                ASSERT_LE(before->first + before->second.bytes, address);
            }
            ASSERT_TRUE(model.emplace(address, block).second);
            addresses.push_back(address);
        } else {
            std::swap(addresses[random() % addresses.size()], addresses.back());
            const auto found = model.find(addresses.back());
            ASSERT_TRUE(found->second.is_whole());
            put(found->second.memory);
            model.erase(found);
            addresses.pop_back();
        }
        if (step % 10'000 == 0) {
            ASSERT_TRUE(is_valid(*thread_heap));
        }
    }
    for (const auto& [address, block] : model) {
        ASSERT_TRUE(block.is_whole());
        put(block.memory);
    }
    ASSERT_TRUE(is_valid(*thread_heap));
    leave_heap();
}

TEST(SlabHeap, every_class_gives_blocks_of_its_size_and_takes_them_back) {
    settle_all();
    const std::size_t before = region_pool.usage().units_in_use;
    for (std::size_t index = 0; index < class_count; ++index) {
        std::vector<void*> blocks;
        for (std::size_t i = 0; i < 700; ++i) {
            blocks.push_back(get(class_bytes(index)));
            ASSERT_EQ(block_bytes(blocks.back()), class_bytes(index));
            const std::size_t alignment = class_bytes(index) & (~class_bytes(index) + 1);
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back()) % alignment, 0U);
        }
        std::vector<void*> sorted = blocks;
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t i = 1; i < sorted.size(); ++i) {
            ASSERT_GE(static_cast<char*>(sorted[i]) - static_cast<char*>(sorted[i - 1]),
                      static_cast<std::ptrdiff_t>(class_bytes(index)));
        }
        for (void* const block : blocks) put(block);
        ASSERT_TRUE(is_valid(*thread_heap));
    }
    settle_all();
    EXPECT_EQ(region_pool.usage().units_in_use, before);
    leave_heap();
}

TEST(SlabHeap, memory_that_another_thread_frees_is_used_again) {
    const Watchdog watchdog;
    const std::size_t rounds = 60 / work_divisor;
    std::size_t units_after_warming = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
        std::vector<Block> blocks;
        for (std::size_t i = 0; i < 5000; ++i) blocks.push_back(Block::make(16 + i % 497, i));
        thread_with_heap([&blocks] {
            for (const Block& block : blocks) {
                EXPECT_TRUE(block.is_whole());
                put(block.memory);
            }
        }).join();
        if (round == 3) units_after_warming = region_pool.usage().units_in_use;
    }
    EXPECT_LE(region_pool.usage().units_in_use, units_after_warming + 4);
    settle_all();
    ASSERT_TRUE(is_valid(*thread_heap));
    leave_heap();
}

TEST(SlabHeap, what_a_thread_left_behind_is_freed_by_others_and_given_back) {
    settle_all();
    const std::size_t before = region_pool.usage().units_in_use;
    std::vector<Block> blocks;
    for (int generation = 0; generation < 5; ++generation) {
        thread_with_heap([&blocks, generation] {
            for (std::size_t i = 0; i < 3000; ++i) {
                blocks.push_back(
                    Block::make(i * 5 % 3000, i + static_cast<std::size_t>(generation)));
            }
        }).join();
    }
    EXPECT_GT(region_pool.usage().units_in_use, before);
    for (const Block& block : blocks) {
        ASSERT_TRUE(block.is_whole());
        put(block.memory);
    }
    leave_heap();
    EXPECT_EQ(region_pool.usage().units_in_use, before);
}

// Threads that begin and end, and pass blocks to each other through a table: each takes the block
// of a place, checks and frees it, and puts a new block there.
TEST(SlabHeap, threads_that_exchange_blocks_and_end) {
    const Watchdog watchdog(std::chrono::seconds{100});
    const std::uint64_t seed = test_seed();
    settle_all();
    const std::size_t before = region_pool.usage().units_in_use;
    struct Place {
        std::mutex mutex;
        Block block;
    };
    std::vector<Place> places(512);
    std::atomic<bool> whole{true};
    for (std::uint64_t generation = 0; generation < 6; ++generation) {
        std::vector<std::thread> threads;
        for (std::uint64_t t = 0; t < 4; ++t) {
            threads.push_back(thread_with_heap([&, generation, t] {
                std::mt19937_64 random(seed + generation * 17 + t);
                for (std::size_t step = 0; step < 20'000 / work_divisor; ++step) {
                    Block block = Block::make(some_bytes(random), random());
                    Place& place = places[random() % places.size()];
                    {
                        const std::lock_guard lock(place.mutex);
                        std::swap(place.block, block);
                    }
                    if (block.memory == nullptr) continue;
                    if (!block.is_whole()) whole = false;
                    put(block.memory);
                }
            }));
        }
        for (std::thread& thread : threads) thread.join();
    }
    EXPECT_TRUE(whole);
    for (Place& place : places) {
        if (place.block.memory != nullptr) put(place.block.memory);
    }
    leave_heap();
    settle_all();
    EXPECT_EQ(region_pool.usage().units_in_use, before);
}

TEST(SlabHeap, a_thread_that_only_frees_returns_what_it_frees) {
    settle_all();
    std::vector<void*> blocks;
    for (int i = 0; i < 200; ++i) blocks.push_back(get(48));
    std::thread([&blocks] {
        put(blocks[0]);
        EXPECT_EQ(thread_heap, &no_heap);  // not for so little
        for (std::size_t i = 1; i < blocks.size(); ++i) put(blocks[i]);
        EXPECT_NE(thread_heap, &no_heap);
        leave_heap();
    }).join();
    // All of them are in this heap's lane now, and come home before a slab is taken, except for
    // one: the bunches that they came in go home in a bunch, too.
    const std::size_t units = region_pool.usage().units_in_use;
    std::vector<void*> again;
    for (int i = 0; i < 200; ++i) again.push_back(get(48));
    EXPECT_LE(region_pool.usage().units_in_use, units + 1);
    std::sort(blocks.begin(), blocks.end());
    for (void* const block : again) {
        if (!std::binary_search(blocks.begin(), blocks.end(), block)) continue;
        put(block);
    }
    leave_heap();
}

TEST(SlabHeap, what_a_thread_holds_back_is_bounded) {
    std::vector<void*> blocks;
    for (int i = 0; i < 64; ++i) blocks.push_back(get(4096));
    std::atomic<bool> freed{false};
    std::atomic<bool> ends{false};
    std::thread other = thread_with_heap([&] {
        for (void* const block : blocks) put(block);
        freed = true;
        while (!ends) std::this_thread::yield();
    });
    while (!freed) std::this_thread::yield();
    collect(*thread_heap);
    // Of 256 KiB, 32 KiB at most have not come home: those of one bunch.
    std::size_t home = 0;
    for (int i = 0; i < 64; ++i) {
        void* const block = get(4096);
        home += static_cast<std::size_t>(std::count(blocks.begin(), blocks.end(), block));
    }
    EXPECT_GE(home, 56U);
    ends = true;
    other.join();
    leave_heap();
}

// A thread that frees blocks of many others in turn has bunches for few of them at a time.
TEST(SlabHeap, blocks_of_many_owners_go_home_without_more_memory_than_they_have) {
    const Watchdog watchdog;
    constexpr std::size_t owners = 40;
    constexpr std::size_t each = 200;
    std::vector<std::vector<void*>> blocks(owners);
    std::atomic<std::size_t> ready{0};
    std::atomic<bool> ends{false};
    std::vector<std::thread> threads;
    for (auto& own : blocks) {
        threads.push_back(thread_with_heap([&] {
            for (std::size_t i = 0; i < each; ++i) own.push_back(get(32));
            ++ready;
            while (!ends) std::this_thread::yield();
        }));
    }
    while (ready != owners) std::this_thread::yield();
    const std::size_t before = region_pool.usage().units_in_use;
    for (std::size_t i = 0; i < each; ++i) {
        for (const auto& own : blocks) put(own[i]);
    }
    // A bunch for each of the 8,000 blocks would be 63 units.
    EXPECT_LE(region_pool.usage().units_in_use, before + 3);
    ends = true;
    for (std::thread& thread : threads) thread.join();
    leave_heap();
}

TEST(SlabHeapDeathTest, a_block_that_is_freed_twice_ends_the_process) {
    EXPECT_DEATH(
        {
            void* const block = get(64);
            put(block);
            put(block);
        },
        "strid: error: block freed twice");
    EXPECT_DEATH(
        {
            void* const block = get(64);
            void* const other = get(64);
            put(block);
            put(other);
            put(block);
            settle_all();
        },
        "strid: error: block freed twice");
}

TEST(SlabHeapDeathTest, an_address_within_a_block_ends_the_process) {
    EXPECT_DEATH(
        {
            put(static_cast<char*>(get(64)) + 8);
            settle_all();
        },
        "strid: error: free of an address that is no block");
}

TEST(SlabHeapDeathTest, an_address_of_other_memory_ends_the_process) {
    EXPECT_DEATH(
        {
            std::byte* const foreign = map_aligned(region_bytes, region_bytes);
            put(foreign + page_bytes);
        },
        "strid: error: free of an address that malloc did not return");
}

}  // namespace
}  // namespace strid::slab_malloc
