// SPDX-License-Identifier: Apache-2.0
//
// The static arena: in order, without overlap, and up to its end.
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <strid/memory/static_arena.hpp>

#include "stress.hpp"

namespace strid::memory {
namespace {

TEST(StaticArena, a_fixed_arena_ends_where_it_ends) {
    StaticArena arena({.capacity_bytes = 256, .prefault = true});
    EXPECT_EQ(arena.bytes_held(), 256U);
    auto* const first = static_cast<std::byte*>(arena.allocate(100));
    auto* const second = static_cast<std::byte*>(arena.allocate(100));
    EXPECT_EQ(second, first + 112);
    EXPECT_EQ(arena.try_allocate(100), nullptr);
    EXPECT_THROW(static_cast<void>(arena.allocate(45)), std::bad_alloc);
    EXPECT_EQ(arena.allocate(44, 1), second + 100);
    EXPECT_EQ(arena.bytes_used(), 256U);
    EXPECT_EQ(arena.try_allocate(1, 1), nullptr);
    EXPECT_NE(arena.try_allocate(0, 1), nullptr);
    EXPECT_EQ(arena.try_allocate(SIZE_MAX), nullptr);
    arena.deallocate(first, 0);
    EXPECT_EQ(arena.counters().leased, 4U);
    EXPECT_EQ(arena.counters().out(), 4U);
    EXPECT_EQ(arena.counters().misses, 4U);
    EXPECT_TRUE(arena.is_valid());
}

TEST(StaticArena, a_growing_arena_adds_regions_and_moves_nothing) {
    StaticArena arena({.growth_bytes = 128});
    EXPECT_EQ(arena.bytes_held(), 0U);
    EXPECT_TRUE(arena.is_valid());
    std::vector<std::pair<std::string_view, std::string>> texts;
    for (int i = 0; i < 500; ++i) {
        std::string text(static_cast<std::size_t>(i), static_cast<char>('a' + i % 26));
        texts.emplace_back(arena.intern(text), text);
    }
    for (const auto& [kept, text] : texts) EXPECT_EQ(kept, text);
    EXPECT_TRUE(arena.is_valid());
    if (test::impossible_requests_throw) {
        EXPECT_THROW(static_cast<void>(arena.allocate(SIZE_MAX / 2)), std::bad_alloc);
    }
    EXPECT_TRUE(arena.is_valid());
}

TEST(StaticArena, pieces_are_aligned_and_disjoint) {
    std::mt19937_64 random(test::test_seed());
    StaticArena arena({.capacity_bytes = 1000, .growth_bytes = 4000});
    struct Piece {
        unsigned char* memory;
        std::size_t bytes;
        unsigned char fill;
    };
    std::vector<Piece> pieces;
    for (int i = 0; i < 2000; ++i) {
        const std::size_t bytes = random() % 300;
        const std::size_t alignment = std::size_t{1} << random() % 13;
        auto* const memory = static_cast<unsigned char*>(arena.allocate(bytes, alignment));
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0U);
        pieces.push_back({memory, bytes, static_cast<unsigned char>(random())});
        std::memset(memory, pieces.back().fill, bytes);
        ASSERT_TRUE(arena.is_valid());
    }
    for (const Piece& piece : pieces) {
        ASSERT_EQ(std::count(piece.memory, piece.memory + piece.bytes, piece.fill),
                  static_cast<std::ptrdiff_t>(piece.bytes));
    }
}

}  // namespace
}  // namespace strid::memory
