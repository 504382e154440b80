// SPDX-License-Identifier: Apache-2.0
//
// TLSF against a model: pieces do not overlap, are aligned and keep their bytes; lists and bits
// agree with the blocks after every step; freed pieces merge to one block for each region.
#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <strid/memory/pmr.hpp>
#include <strid/memory/tlsf.hpp>

#include "stress.hpp"

namespace strid::memory {
namespace {

constexpr std::size_t overhead = Tlsf::region_overhead_bytes;

/// The pieces that are out, by address; each is filled with its own byte.
class Model {
  public:
    explicit Model(Tlsf& arena, std::uint64_t seed) : arena_(arena), random_(seed) {}

    void allocate(std::size_t bytes, std::size_t alignment) {
        auto* const memory = static_cast<unsigned char*>(arena_.try_allocate(bytes, alignment));
        if (memory == nullptr) {
            ++refused_;
            return;
        }
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0U);
        enter(memory, bytes);
    }
    void deallocate() {
        const auto piece = pick();
        check(*piece);
        arena_.deallocate(piece->first);
        pieces_.erase(piece);
    }
    void reallocate(std::size_t bytes) {
        const auto piece = pick();
        const Piece old = piece->second;
        check(*piece);
        auto* const memory =
            static_cast<unsigned char*>(arena_.try_reallocate(piece->first, bytes));
        if (memory == nullptr) {
            check(*piece);
            ++refused_;
            return;
        }
        pieces_.erase(piece);
        ASSERT_TRUE(all_are(memory, std::min(old.bytes, bytes), old.fill));
        enter(memory, bytes);
    }
    void resize(std::size_t bytes) {
        const auto piece = pick();
        Piece& known = piece->second;
        if (!arena_.try_resize(piece->first, bytes)) {
            ASSERT_GT(bytes, known.bytes);
            check(*piece);
            return;
        }
        ASSERT_TRUE(all_are(piece->first, std::min(known.bytes, bytes), known.fill));
        unsigned char* const memory = piece->first;
        pieces_.erase(piece);
        enter(memory, bytes);
    }
    /// One step of one of the four kinds; one that frees if there are `pieces_max`.
    void step(std::size_t bytes_max, std::size_t pieces_max) {
        const std::size_t bytes = some_bytes(bytes_max);
        const auto choice = random_() % 8;
        if (pieces_.empty() || (choice < 4 && pieces_.size() < pieces_max)) {
            allocate(bytes, choice == 0 ? std::size_t{1} << random_() % 13 : 16);
        } else if (choice < 6) {
            deallocate();
        } else if (choice == 6) {
            reallocate(bytes);
        } else {
            resize(bytes);
        }
    }
    void free_all() {
        while (!pieces_.empty()) deallocate();
    }
    [[nodiscard]] std::size_t refused() const { return refused_; }
    [[nodiscard]] std::size_t count() const { return pieces_.size(); }

  private:
    struct Piece {
        std::size_t bytes;
        unsigned char fill;
    };
    using Pieces = std::map<unsigned char*, Piece>;

    /// By octave, so that small sizes and large ones are as frequent.
    std::size_t some_bytes(std::size_t bytes_max) {
        return random_() % ((bytes_max >> random_() % 16) + 1);
    }
    Pieces::iterator pick() {
        auto piece = pieces_.begin();
        std::advance(piece, static_cast<std::ptrdiff_t>(random_() % pieces_.size()));
        return piece;
    }
    void enter(unsigned char* memory, std::size_t bytes) {
        const std::size_t usable = Tlsf::usable_bytes(memory);
        ASSERT_GE(usable, bytes);
        const auto next = pieces_.lower_bound(memory);
        if (next != pieces_.end()) {
            ASSERT_LE(memory + usable, next->first);
        }
        if (next != pieces_.begin()) {
            const auto previous = std::prev(next);
            ASSERT_LE(previous->first + Tlsf::usable_bytes(previous->first), memory);
        }
        const auto fill = static_cast<unsigned char>(random_());
        std::memset(memory, fill, usable);
        pieces_.emplace(memory, Piece{bytes, fill});
    }
    static bool all_are(const unsigned char* memory, std::size_t bytes, unsigned char fill) {
        return std::all_of(memory, memory + bytes, [&](unsigned char c) { return c == fill; });
    }
    static void check(const std::pair<unsigned char* const, Piece>& piece) {
        ASSERT_TRUE(all_are(piece.first, piece.second.bytes, piece.second.fill));
    }

    Tlsf& arena_;
    std::mt19937_64 random_;
    Pieces pieces_;
    std::size_t refused_ = 0;
};

TEST(Tlsf, random_operations_keep_the_law_in_a_fixed_arena) {
    std::vector<std::byte> memory(1 << 18);
    Tlsf arena{std::span(memory).subspan(3)};
    EXPECT_TRUE(arena.is_valid());
    const std::size_t free_at_first = arena.largest_free_bytes();
    Model model(arena, test::test_seed());
    for (std::size_t i = 0; i < 40'000 / test::work_divisor; ++i) {
        model.step(20'000, 200);
        ASSERT_FALSE(testing::Test::HasFatalFailure());
        ASSERT_TRUE(arena.is_valid()) << "after step " << i;
        ASSERT_EQ(arena.counters().out(), model.count());
    }
    EXPECT_GT(model.refused(), 0U);
    model.free_all();
    EXPECT_TRUE(arena.is_valid());
    EXPECT_EQ(arena.free_blocks(), 1U);
    EXPECT_EQ(arena.largest_free_bytes(), free_at_first);
    EXPECT_EQ(arena.usage().live, 0U);
    EXPECT_EQ(arena.usage().regions, 1U);
}

TEST(Tlsf, random_operations_keep_the_law_in_a_growing_arena) {
    Tlsf arena({.capacity_bytes = 1 << 16, .growth_bytes = 1 << 16, .spare_regions_max = 2});
    Model model(arena, test::test_seed());
    for (std::size_t i = 0; i < 20'000 / test::work_divisor; ++i) {
        // In turns, so that regions become empty.
        model.step(100'000, i / 500 % 2 == 0 ? 200 : 5);
        ASSERT_FALSE(testing::Test::HasFatalFailure());
        ASSERT_TRUE(arena.is_valid()) << "after step " << i;
    }
    EXPECT_EQ(model.refused(), 0U);
    EXPECT_GT(arena.counters().misses, 0U);
    model.free_all();
    EXPECT_TRUE(arena.is_valid());
    EXPECT_LE(arena.usage().regions, 3U);
    EXPECT_EQ(arena.free_blocks(), arena.usage().regions);
    arena.trim();
    EXPECT_EQ(arena.usage().regions, 1U);
    EXPECT_EQ(arena.usage().held, std::size_t{1} << 16);
    EXPECT_TRUE(arena.is_valid());
}

TEST(Tlsf, a_fixed_arena_hands_out_all_of_itself_and_then_refuses) {
    alignas(16) static std::byte memory[4096];
    Tlsf arena{std::span(memory)};
    EXPECT_EQ(arena.largest_free_bytes(), sizeof memory - overhead - 8);
    void* const whole = arena.try_allocate(arena.largest_free_bytes());
    ASSERT_NE(whole, nullptr);
    EXPECT_EQ(arena.largest_free_bytes(), 0U);
    EXPECT_EQ(arena.try_allocate(1), nullptr);
    EXPECT_THROW(static_cast<void>(arena.allocate(1)), std::bad_alloc);
    EXPECT_TRUE(arena.is_valid());
    arena.deallocate(whole);
    std::vector<void*> pieces;
    while (void* const piece = arena.try_allocate(24)) pieces.push_back(piece);
    EXPECT_EQ(pieces.size(), (sizeof memory - overhead) / 32);
    // Every other one: nothing merges, and larger requests than one of them are refused.
    for (std::size_t i = 0; i < pieces.size(); i += 2) arena.deallocate(pieces[i]);
    EXPECT_TRUE(arena.is_valid());
    EXPECT_EQ(arena.free_blocks(), (pieces.size() + 1) / 2);
    EXPECT_EQ(arena.try_allocate(25), nullptr);
    for (std::size_t i = 1; i < pieces.size(); i += 2) arena.deallocate(pieces[i]);
    EXPECT_EQ(arena.free_blocks(), 1U);
    EXPECT_EQ(arena.usage().live_max, sizeof memory - overhead - 8);
}

TEST(Tlsf, sizes_that_no_arena_has_are_refused) {
    Tlsf arena({.capacity_bytes = 1 << 16, .growth_bytes = 1 << 16});
    for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX / 2, Tlsf::bytes_max + 1}) {
        EXPECT_EQ(arena.try_allocate(bytes), nullptr);
        EXPECT_EQ(arena.try_allocate(16, std::bit_floor(bytes)), nullptr);
        EXPECT_EQ(arena.try_allocate_zeroed(bytes), nullptr);
        EXPECT_THROW(static_cast<void>(arena.allocate(bytes)), std::bad_alloc);
    }
    void* const piece = arena.try_allocate(0);
    ASSERT_NE(piece, nullptr);
    EXPECT_GE(Tlsf::usable_bytes(piece), 1U);
    EXPECT_EQ(arena.try_reallocate(piece, SIZE_MAX), nullptr);
    EXPECT_FALSE(arena.try_resize(piece, SIZE_MAX));
    EXPECT_TRUE(arena.is_valid());
    EXPECT_THROW(Tlsf({.capacity_bytes = SIZE_MAX}), std::bad_alloc);
}

TEST(Tlsf, an_arena_without_memory_refuses) {
    std::byte memory[80];
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, sizeof memory}) {
        Tlsf arena{std::span(memory).first(bytes)};
        EXPECT_EQ(arena.try_allocate(1), nullptr);
        EXPECT_EQ(arena.largest_free_bytes(), 0U);
        EXPECT_TRUE(arena.is_valid());
    }
    Tlsf arena(Tlsf::Options{});
    EXPECT_EQ(arena.try_allocate(1), nullptr);
    arena.deallocate(nullptr);
    EXPECT_TRUE(arena.is_valid());
}

TEST(Tlsf, the_first_list_that_fits_serves_and_not_the_largest_block) {
    Tlsf arena({.capacity_bytes = 1 << 16});
    std::vector<void*> free_later;
    std::vector<void*> between;
    for (const std::size_t bytes : {4000U, 1000U, 2000U, 100U}) {
        free_later.push_back(arena.allocate(bytes));
        between.push_back(arena.allocate(16));
    }
    for (void* const piece : free_later) arena.deallocate(piece);
    EXPECT_EQ(arena.allocate(100), free_later[3]);
    EXPECT_EQ(arena.allocate(900), free_later[1]);
    EXPECT_EQ(arena.allocate(1900), free_later[2]);
    EXPECT_EQ(arena.allocate(2100), free_later[0]);
    EXPECT_TRUE(arena.is_valid());
}

TEST(Tlsf, a_piece_grows_into_what_is_free_behind_it) {
    Tlsf arena({.capacity_bytes = 1 << 16});
    void* const piece = arena.allocate(100);
    void* const behind = arena.allocate(1000);
    void* const last = arena.allocate(16);
    EXPECT_FALSE(arena.try_resize(piece, 500));
    arena.deallocate(behind);
    EXPECT_TRUE(arena.try_resize(piece, 500));
    EXPECT_EQ(arena.try_reallocate(piece, 1000), piece);
    EXPECT_FALSE(arena.try_resize(piece, 5000));
    EXPECT_NE(arena.try_reallocate(last, 300), nullptr);
    EXPECT_TRUE(arena.try_resize(piece, 1));
    EXPECT_LE(Tlsf::usable_bytes(piece), 24U);
    EXPECT_TRUE(arena.is_valid());
}

TEST(Tlsf, a_large_request_has_a_region_that_moves_and_goes) {
    Tlsf arena({.growth_bytes = 1 << 20});
    auto* piece = static_cast<unsigned char*>(arena.try_allocate_zeroed(3 << 20));
    ASSERT_NE(piece, nullptr);
    EXPECT_EQ(arena.usage().regions, 1U);
    EXPECT_EQ(std::count(piece, piece + (3 << 20), 0), 3 << 20);
    std::memset(piece, 7, 3 << 20);
    for (const std::size_t bytes : {50UL << 20, 2UL << 20, 5UL << 20}) {
        piece = static_cast<unsigned char*>(arena.try_reallocate(piece, bytes));
        ASSERT_NE(piece, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % 16, 0U);
        EXPECT_EQ(std::count(piece, piece + (2 << 20), 7), 2 << 20);
        EXPECT_GE(Tlsf::usable_bytes(piece), bytes);
        EXPECT_EQ(arena.usage().regions, 1U);
        EXPECT_TRUE(arena.is_valid());
    }
    // A piece that became small leaves the region, which is given back.
    piece = static_cast<unsigned char*>(arena.try_reallocate(piece, 1000));
    EXPECT_EQ(std::count(piece, piece + 1000, 7), 1000);
    EXPECT_EQ(arena.usage().held, std::size_t{1} << 20);
    void* const aligned = arena.try_allocate(3 << 20, 1 << 21);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned) % (1 << 21), 0U);
    arena.deallocate(aligned);
    EXPECT_EQ(arena.usage().held, std::size_t{1} << 20);
    EXPECT_TRUE(arena.is_valid());
}

TEST(Tlsf, zeroed_memory_is_zero_where_other_bytes_were) {
    Tlsf arena({.capacity_bytes = 1 << 16});
    void* const first = arena.allocate(1000);
    std::memset(first, 0xff, 1000);
    arena.deallocate(first);
    auto* const again = static_cast<unsigned char*>(arena.try_allocate_zeroed(1000));
    EXPECT_EQ(again, first);
    EXPECT_EQ(std::count(again, again + 1000, 0), 1000);
}

TEST(Tlsf, containers_take_it_as_a_resource_and_as_an_allocator) {
    Tlsf arena({.capacity_bytes = 1 << 20, .prefault = true});
    Tlsf other({.capacity_bytes = 1 << 12});
    TlsfResource resource(arena);
    EXPECT_TRUE(resource.is_equal(TlsfResource(arena)));
    EXPECT_FALSE(resource.is_equal(TlsfResource(other)));
    {
        std::pmr::map<int, std::pmr::string> texts(&resource);
        std::list<int, TlsfStlAllocator<int>> numbers{TlsfStlAllocator<int>(arena)};
        for (int i = 0; i < 1000; ++i) {
            texts.emplace(i, std::string(static_cast<std::size_t>(i % 100), 'x'));
            numbers.push_back(i);
        }
        EXPECT_EQ(texts.at(999).size(), 99U);
        EXPECT_GT(arena.usage().live, 1000U * 16);
        EXPECT_TRUE(arena.is_valid());
    }
    EXPECT_EQ(arena.usage().live, 0U);
    EXPECT_EQ(arena.free_blocks(), 1U);
    TlsfResource small(other);
    EXPECT_THROW(std::pmr::vector<char>(1 << 13, &small), std::bad_alloc);
}

#if STRID_ASSERT_LEVEL >= 1
TEST(TlsfDeathTest, a_piece_that_is_freed_twice_is_an_error) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    Tlsf arena({.capacity_bytes = 1 << 16});
    void* const first = arena.allocate(100);
    void* const second = arena.allocate(100);
    arena.deallocate(first);
    arena.deallocate(second);
    EXPECT_DEATH(arena.deallocate(second), "assertion failed");
    EXPECT_DEATH(arena.deallocate(first), "assertion failed");
}
#endif

}  // namespace
}  // namespace strid::memory
