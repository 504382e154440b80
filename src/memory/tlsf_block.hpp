// SPDX-License-Identifier: Apache-2.0
//
// Blocks and regions of a TLSF arena as they lie in memory (tlsf.hpp), all in words of 8 bytes:
//
//     region:  next, previous, bytes, kind, -, block, block, ..., mark, -> region, -
//     used:    size|flags, the piece ...
//     free:    size|flags, next free, previous free, ..., size
//
// A piece is at a multiple of 16, so a block begins 8 bytes before one. A used block's piece goes
// to the word before the next block, where a free one has its size: only with the flag
// `previous_free` of the next block may that word be read. The mark is a used block of size 0.
#pragma once

#include <cstddef>

#include <strid/memory/tlsf.hpp>

namespace strid::memory::detail {

struct TlsfBlock {
    static constexpr std::size_t is_free = 1;
    static constexpr std::size_t previous_is_free = 2;
    static constexpr std::size_t flags = 15;
    static constexpr std::size_t head_bytes = sizeof(std::size_t);
    static constexpr std::size_t bytes_min = 32;  // both links, and the size at both ends

    std::size_t head;
    TlsfBlock* next_free;      // only while free, as all below
    TlsfBlock* previous_free;  // null in the first of a list

    [[nodiscard]] std::size_t bytes() const noexcept { return head & ~flags; }
    [[nodiscard]] bool free() const noexcept { return (head & is_free) != 0; }
    [[nodiscard]] bool previous_free_lies_before() const noexcept {
        return (head & previous_is_free) != 0;
    }
    [[nodiscard]] bool is_mark() const noexcept { return bytes() == 0; }

    [[nodiscard]] std::byte* address() noexcept { return reinterpret_cast<std::byte*>(this); }
    [[nodiscard]] const std::byte* address() const noexcept {
        return reinterpret_cast<const std::byte*>(this);
    }
    [[nodiscard]] void* piece() noexcept { return address() + head_bytes; }
    static TlsfBlock* at(std::byte* place) noexcept { return reinterpret_cast<TlsfBlock*>(place); }
    static TlsfBlock* of(void* piece) noexcept {
        return at(static_cast<std::byte*>(piece) - head_bytes);
    }
    static const TlsfBlock* of(const void* piece) noexcept {
        return reinterpret_cast<const TlsfBlock*>(static_cast<const std::byte*>(piece) -
                                                  head_bytes);
    }

    [[nodiscard]] TlsfBlock* after() noexcept { return at(address() + bytes()); }
    [[nodiscard]] const TlsfBlock* after() const noexcept {
        return reinterpret_cast<const TlsfBlock*>(address() + bytes());
    }
    [[nodiscard]] std::size_t bytes_of_previous() const noexcept {
        return reinterpret_cast<const std::size_t*>(this)[-1];
    }
    [[nodiscard]] TlsfBlock* before() noexcept { return at(address() - bytes_of_previous()); }
    [[nodiscard]] const TlsfBlock* before() const noexcept {
        return reinterpret_cast<const TlsfBlock*>(address() - bytes_of_previous());
    }

    /// Makes this a free block of `size` bytes with a used one before it. The next block is not
    /// written: its line is seldom in the cache, and its flag is most often right already.
    void become_free(std::size_t size) noexcept {
        head = size | is_free;
        reinterpret_cast<std::size_t*>(after())[-1] = size;
    }
    void mark_next() noexcept { after()->head |= previous_is_free; }
    /// Makes this a used block of `size` bytes, with the flag of the block before as it was.
    void become_used(std::size_t size) noexcept { head = size | (head & previous_is_free); }
    /// The region that ends with this mark.
    [[nodiscard]] TlsfRegion* region_of_mark() const noexcept {
        return reinterpret_cast<TlsfRegion*>(next_free);
    }
    /// Makes this the mark at the end of `region`.
    void become_mark(TlsfRegion* region) noexcept {
        head = 0;
        next_free = reinterpret_cast<TlsfBlock*>(region);
    }
};

struct TlsfRegion {
    static constexpr std::size_t first_block_offset = 40;
    static constexpr std::size_t overhead_bytes = Tlsf::region_overhead_bytes;

    enum Kind : std::size_t {
        given,     ///< memory of the caller: never unmapped
        capacity,  ///< mapped at the beginning, unmapped at the end
        growth,    ///< mapped when needed, unmapped when empty and not spared
        own,       ///< mapped for one request, unmapped with it
    };

    TlsfRegion* next;
    TlsfRegion* previous;
    std::size_t bytes;
    Kind kind;

    [[nodiscard]] TlsfBlock* first_block() noexcept {
        return TlsfBlock::at(reinterpret_cast<std::byte*>(this) + first_block_offset);
    }
    [[nodiscard]] const TlsfBlock* first_block() const noexcept {
        return reinterpret_cast<const TlsfBlock*>(reinterpret_cast<const std::byte*>(this) +
                                                  first_block_offset);
    }
    /// The size of a block that fills the region.
    [[nodiscard]] std::size_t block_bytes() const noexcept { return bytes - overhead_bytes; }
    [[nodiscard]] TlsfBlock* mark() noexcept {
        return TlsfBlock::at(first_block()->address() + block_bytes());
    }
    [[nodiscard]] const TlsfBlock* mark() const noexcept {
        return reinterpret_cast<const TlsfBlock*>(first_block()->address() + block_bytes());
    }
};
static_assert(sizeof(TlsfRegion) <= TlsfRegion::first_block_offset);

/// The region that `block` fills, or null where it shares one. O(1).
inline TlsfRegion* region_filled_by(TlsfBlock* block) noexcept {
    TlsfBlock* const next = block->after();
    if (!next->is_mark()) return nullptr;
    TlsfRegion* const region = next->region_of_mark();
    return region->first_block() == block ? region : nullptr;
}

}  // namespace strid::memory::detail
