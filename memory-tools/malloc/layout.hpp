// SPDX-License-Identifier: Apache-2.0
//
// The layout of the allocator's memory: the address of a block alone determines its owner and its
// size.
//
//   block   what malloc returns
//   slab    a run of units with blocks of one size class, owned by one heap
//   large   a run of units with one block, owned by no heap
//   unit    64 KiB of a region, at a multiple of 64 KiB
//   region  32 MiB at a multiple of 32 MiB: units, and in front of them a header with a tag and
//           the data of a slab for each unit
//   huge    a mapping of its own with one block, which begins as a region does
//
// The tag, which every free reads, is separate from the data that only the owner of a slab writes:
// 4 tags share a line, and the tags of 64 MiB of memory fit into the first cache. The tags and
// slabs of a region's units lie together. At the first byte of each slab they would fall into the
// same few sets of the caches.
//
// Invariant: the tags of all units of a slab are equal. A unit that is in no slab and is not the
// first of a large block has a tag of kind `none`.
#pragma once

#include <cstddef>
#include <cstdint>

#include <strid/engine/base/cache_line.hpp>

namespace strid::slab_malloc {

struct Heap;

inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t unit_bytes = std::size_t{64} << 10;
inline constexpr std::size_t region_bytes = std::size_t{32} << 20;
inline constexpr std::size_t region_units = region_bytes / unit_bytes;

/// The largest block of a slab, and the largest block of a region.
inline constexpr std::size_t small_bytes_max = std::size_t{32} << 10;
inline constexpr std::size_t large_bytes_max = std::size_t{8} << 20;

enum class Kind : std::uint8_t { none, small, large, huge };

/// The data of a unit that a free needs.
struct Tag {
    Heap* owner = nullptr;  // of a slab
    std::uint8_t class_index = 0;
    Kind kind = Kind::none;
    std::uint16_t first_unit = 0;
    std::uint16_t block_bytes = 0;   // of a slab
    std::uint16_t stack_offset = 0;  // of the class's stack in the owner
};
static_assert(sizeof(Tag) == 16);

/// A slab, or a large block: the data of its first unit. The owner's, or under the pool's lock.
struct alignas(cache_line_bytes) Slab {
    std::byte* first_block = nullptr;
    std::uint64_t* free_bits = nullptr;  // a set bit: the block is in no stack and not in use
    Slab* next = nullptr;                // in the list of its class
    Slab* previous = nullptr;
    std::uint32_t block_bytes = 0;
    std::uint32_t reciprocal = 0;  // ceil(2^32 / block_bytes)
    std::uint32_t block_count = 0;
    std::uint32_t in_use = 0;     // blocks without their bit set
    std::uint32_t next_word = 0;  // no bit is set in a word before this
    std::uint16_t first_unit = 0;
    std::uint16_t units = 0;  // of a large block, too
    std::uint8_t class_index = 0;
    bool listed = false;
};
static_assert(sizeof(Slab) == cache_line_bytes);

/// A bit for each unit of a region.
struct UnitSet {
    static constexpr std::size_t word_count = region_units / 64;
    std::uint64_t words[word_count] = {};

    [[nodiscard]] bool has(std::size_t unit) const noexcept {
        return (words[unit / 64] >> unit % 64 & 1) != 0;
    }
    void add(std::size_t unit) noexcept { words[unit / 64] |= std::uint64_t{1} << unit % 64; }
    void remove(std::size_t unit) noexcept { words[unit / 64] &= ~(std::uint64_t{1} << unit % 64); }
};

/// The bits of a slab's blocks are in the header from this size on, and in front of the slab below.
inline constexpr std::size_t header_bits_from_bytes = 128;
inline constexpr std::size_t header_bit_words = unit_bytes / header_bits_from_bytes / 64;

/// The header of a region. Its pages are touched when its units are used.
struct Region {
    Tag tags[region_units];
    Slab slabs[region_units];
    std::uint64_t bits[region_units][header_bit_words];
    // Under the pool's lock.
    Region* next;
    std::uint32_t free_units;
    std::uint32_t run_units_max;  // no run of free units is longer
    UnitSet free;
    UnitSet dirty;      // free, and written since the kernel gave the pages
    UnitSet dirty_old;  // dirty already at the last ageing of the pool

    [[nodiscard]] std::byte* unit(std::size_t index) noexcept {
        return reinterpret_cast<std::byte*>(this) + index * unit_bytes;
    }
};
inline constexpr std::size_t header_units = 2;
static_assert(sizeof(Region) <= header_units * unit_bytes);

/// The header of a huge block: its tag is where the tag of a block at its place in a region would
/// be.
struct HugeBlock {
    Tag tags[region_units];
    std::byte* memory;
    std::size_t usable_bytes;
    std::size_t mapping_bytes;  // from the header on
};

/// The region of a block. A block at the very end of a header's region, such as a huge one of great
/// alignment, belongs to that header: hence the 1. `memory` is not null.
inline Region* region_of(const void* memory) noexcept {
    return reinterpret_cast<Region*>((reinterpret_cast<std::uintptr_t>(memory) - 1) &
                                     ~(region_bytes - 1));
}

inline std::size_t unit_of(const void* memory) noexcept {
    return reinterpret_cast<std::uintptr_t>(memory) / unit_bytes % region_units;
}

inline Tag& tag_of(const void* memory) noexcept {
    return region_of(memory)->tags[unit_of(memory)];
}

/// The slab of a block of a slab, or the first unit of a large one.
inline Slab& slab_of(const void* memory) noexcept {
    Region* const region = region_of(memory);
    return region->slabs[region->tags[unit_of(memory)].first_unit];
}

inline constexpr std::size_t round_up(std::size_t value, std::size_t power_of_two) noexcept {
    return (value + power_of_two - 1) & ~(power_of_two - 1);
}

}  // namespace strid::slab_malloc
