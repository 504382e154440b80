// SPDX-License-Identifier: Apache-2.0
//
// The requests of reused memory to the heap, and when it gives memory back.
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <strid/memory/recycling.hpp>

#include "../support/counting_new.hpp"

namespace strid::memory {
namespace {

using Numbers = std::vector<std::uint64_t, RecyclingAllocator<std::uint64_t>>;

/// More lists, of several sizes, than the thread has room for.
void fill_and_let_go() {
    std::vector<Numbers> lists(500);
    for (std::size_t i = 0; i != lists.size(); ++i) {
        for (std::uint64_t n = 0; n != i; ++n) lists[i].push_back(n);
    }
}

TEST(RecyclingAllocations, none_but_the_first_time) {
    const RecyclingScope scope;
    fill_and_let_go();
    const std::uint64_t before = test::allocations.load();
    fill_and_let_go();
    EXPECT_EQ(test::allocations.load() - before, 1U);  // the list of lists
}

TEST(RecyclingAllocations, a_piece_of_any_size_is_used_again) {
    const RecyclingScope scope;
    for (std::size_t bytes = 1; bytes <= std::size_t{1} << 28; bytes = bytes * 3 + 1) {
        RecyclingAllocator<char> allocator;
        allocator.deallocate(allocator.allocate(bytes), bytes);
        const std::uint64_t before = test::allocations.load();
        allocator.deallocate(allocator.allocate(bytes), bytes);
        EXPECT_EQ(test::allocations.load(), before) << bytes;
    }
}

TEST(RecyclingAllocations, the_last_scope_gives_everything_back) {
    const std::int64_t before = test::live_bytes.load();
    {
        const RecyclingScope outer;
        { const RecyclingScope inner; }
        fill_and_let_go();
        EXPECT_GT(test::live_bytes.load(), before + 500 * 500);
    }
    EXPECT_EQ(test::live_bytes.load(), before);
}

TEST(RecyclingAllocations, a_thread_leaves_what_it_kept_to_the_others) {
    const RecyclingScope scope;
    const auto elsewhere = [] { std::thread(fill_and_let_go).join(); };
    elsewhere();
    const std::uint64_t before = test::allocations.load();
    elsewhere();
    EXPECT_LE(test::allocations.load() - before, 4U);  // the list of lists, and the thread itself
}

TEST(RecyclingAllocations, without_a_scope_a_thread_leaves_nothing) {
    const auto elsewhere = [] { std::thread(fill_and_let_go).join(); };
    elsewhere();
    const std::int64_t before = test::live_bytes.load();
    elsewhere();
    EXPECT_EQ(test::live_bytes.load(), before);
}

}  // namespace
}  // namespace strid::memory
