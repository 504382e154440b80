// SPDX-License-Identifier: Apache-2.0
//
// Lists and blocks of a TLSF arena: everything that takes constant time. This file and that of the
// regions need nothing of the C++ library at run time, because a malloc is made of them.
#include <algorithm>
#include <cstring>

#include <strid/memory/tlsf.hpp>

#include "tlsf_block.hpp"

namespace strid::memory {

namespace {

using Block = detail::TlsfBlock;

/// The block that a request of `bytes` needs.
constexpr std::size_t block_bytes_for(std::size_t bytes) noexcept {
    constexpr std::size_t step = Tlsf::alignment_min;
    return std::max((bytes + Block::head_bytes + step - 1) & ~(step - 1), Block::bytes_min);
}

/// The bits of `word` from `from` on; `from` may be the width of the word.
constexpr std::uint32_t bits_from(std::uint32_t word, unsigned from) noexcept {
    return static_cast<std::uint32_t>(std::uint64_t{word} >> from << from);
}

}  // namespace

void Tlsf::link(Block* block) noexcept {
    const auto [first, second] = place_of(block->bytes());
    Block*& list = lists_[first][second];
    block->previous_free = nullptr;
    block->next_free = list;
    if (list != nullptr) list->previous_free = block;
    list = block;
    second_[first] |= 1U << second;
    first_ |= 1U << first;
}

void Tlsf::unlink(Block* block) noexcept {
    if (block->next_free != nullptr) block->next_free->previous_free = block->previous_free;
    if (block->previous_free != nullptr) {
        block->previous_free->next_free = block->next_free;
        return;
    }
    const auto [first, second] = place_of(block->bytes());
    STRID_ASSERT(lists_[first][second] == block);
    lists_[first][second] = block->next_free;
    if (block->next_free != nullptr) return;
    second_[first] &= ~(1U << second);
    if (second_[first] == 0) first_ &= ~(1U << first);
}

// Any block of the first list at or above the rounded request fits. If there is none, the first
// block of the list of the request itself is tried: one step more, and an arena that holds exactly
// one block can hand out all of it.
Tlsf::Block* Tlsf::take_fit(std::size_t block_bytes) noexcept {
    std::size_t rounded = block_bytes;
    if (block_bytes >= small_bytes) {
        rounded += (std::size_t{1} << (std::bit_width(block_bytes) - 1 - second_bits)) - 1;
    }
    auto [first, second] = place_of(rounded);
    if (first < first_levels) {
        std::uint32_t row = bits_from(second_[first], second);
        if (row == 0) {
            const std::uint32_t rows = bits_from(first_, first + 1);
            if (rows != 0) {
                first = static_cast<unsigned>(std::countr_zero(rows));
                row = second_[first];
            }
        }
        if (row != 0) {
            Block* const found = lists_[first][static_cast<unsigned>(std::countr_zero(row))];
            unlink(found);
            return found;
        }
    }
    const auto [own_first, own_second] = place_of(block_bytes);
    if (own_first >= first_levels) return nullptr;
    Block* const found = lists_[own_first][own_second];
    if (found == nullptr || found->bytes() < block_bytes) return nullptr;
    unlink(found);
    return found;
}

void Tlsf::count_out(std::size_t block_bytes) noexcept {
    usage_.live += block_bytes - Block::head_bytes;
    usage_.live_max = std::max(usage_.live_max, usage_.live);
    tallies_.leased.add();
}

// Splits a used block: the bytes beyond `block_bytes` become free, merged with a free block behind.
void Tlsf::give_up_end(Block* block, std::size_t block_bytes) noexcept {
    std::size_t rest = block->bytes() - block_bytes;
    if (rest == 0) return;
    Block* const next = block->after();
    const bool merges = next->free();
    if (merges) {
        unlink(next);
        rest += next->bytes();
    } else if (rest < Block::bytes_min) {
        return;
    }
    block->become_used(block_bytes);
    Block* const end = block->after();
    end->become_free(rest);
    if (!merges) end->mark_next();
    link(end);
}

// `block` is in no list; it becomes used, and the bytes beyond `block_bytes` become a free block.
void* Tlsf::hand_out(Block* block, std::size_t block_bytes) noexcept {
    const std::size_t whole = block->bytes();
    if (whole - block_bytes >= Block::bytes_min) {
        block->become_used(block_bytes);
        Block* const rest = block->after();
        rest->become_free(whole - block_bytes);
        link(rest);
    } else {
        block->become_used(whole);
        block->after()->head &= ~Block::previous_is_free;
    }
    count_out(block->bytes());
    return block->piece();
}

void* Tlsf::carve(std::size_t block_bytes, std::size_t alignment) noexcept {
    // Room to move the piece up to its alignment, past a free block of at least the least size.
    const std::size_t slack = alignment > alignment_min ? alignment + alignment_min : 0;
    Block* block = take_fit(block_bytes + slack);
    if (block == nullptr) return nullptr;
    if (spare_regions_ != 0 && block->bytes() + region_overhead_bytes >= growth_bytes_) {
        Region* const region = detail::region_filled_by(block);
        if (region != nullptr && region->kind == Region::growth) --spare_regions_;
    }
    if (slack != 0) {
        const auto piece = reinterpret_cast<std::uintptr_t>(block->piece());
        std::size_t gap = (0 - piece) & (alignment - 1);
        if (gap == alignment_min) gap += alignment;
        if (gap != 0) {
            const std::size_t whole = block->bytes();
            Block* const front = block;
            block = Block::at(front->address() + gap);
            block->head = (whole - gap) | Block::previous_is_free;
            front->become_free(gap);
            link(front);
        }
    }
    return hand_out(block, block_bytes);
}

void* Tlsf::try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
    STRID_ASSERT(std::has_single_bit(alignment));
    if (bytes > bytes_max || alignment > bytes_max) [[unlikely]] {
        tallies_.misses.add();
        return nullptr;
    }
    const std::size_t block_bytes = block_bytes_for(bytes);
    void* const piece = carve(block_bytes, alignment);
    if (piece != nullptr) [[likely]]
        return piece;
    bool cleared = false;
    return grow_and_carve(block_bytes, alignment, cleared);
}

void* Tlsf::try_allocate_zeroed(std::size_t bytes) noexcept {
    if (bytes > bytes_max) {
        tallies_.misses.add();
        return nullptr;
    }
    const std::size_t block_bytes = block_bytes_for(bytes);
    bool cleared = false;
    void* piece = carve(block_bytes, alignment_min);
    if (piece == nullptr) piece = grow_and_carve(block_bytes, alignment_min, cleared);
    if (piece != nullptr && !cleared) std::memset(piece, 0, bytes);
    return piece;
}

void Tlsf::deallocate(void* piece) noexcept {
    if (piece == nullptr) return;
    Block* block = Block::of(piece);
    STRID_ASSERT(!block->free() && !block->is_mark());
    std::size_t bytes = block->bytes();
    usage_.live -= bytes - Block::head_bytes;
    tallies_.count_returned();

    Block* const next = block->after();
    if (next->free()) {
        unlink(next);
        bytes += next->bytes();
    } else {
        block->mark_next();
    }
    if (block->previous_free_lies_before()) {
        Block* const before = block->before();
        unlink(before);
        bytes += before->bytes();
        // A second free of the same piece finds the flag.
        block->head |= Block::is_free;
        block = before;
    }
    block->become_free(bytes);
    link(block);
    if (growth_bytes_ != 0 && bytes + region_overhead_bytes >= growth_bytes_ / 2) {
        if (Region* const region = detail::region_filled_by(block)) region_is_empty(region);
    }
}

bool Tlsf::try_resize(void* piece, std::size_t bytes) noexcept {
    if (bytes > bytes_max) return false;
    Block* const block = Block::of(piece);
    STRID_ASSERT(!block->free());
    const std::size_t block_bytes = block_bytes_for(bytes);
    const std::size_t old_bytes = block->bytes();
    if (block_bytes > old_bytes) {
        Block* const next = block->after();
        if (!next->free() || old_bytes + next->bytes() < block_bytes) return false;
        unlink(next);
        block->become_used(old_bytes + next->bytes());
        block->after()->head &= ~Block::previous_is_free;
        give_up_end(block, block_bytes);
    } else {
        Region* const region = detail::region_filled_by(block);
        // A piece elsewhere would keep a region that was made for one.
        if (region != nullptr && region->kind == Region::own) return true;
        give_up_end(block, block_bytes);
    }
    usage_.live += block->bytes() - old_bytes;
    usage_.live_max = std::max(usage_.live_max, usage_.live);
    return true;
}

void* Tlsf::try_reallocate(void* piece, std::size_t bytes) noexcept {
    if (piece == nullptr) return try_allocate(bytes);
    if (bytes > bytes_max) return nullptr;
    Region* const region = detail::region_filled_by(Block::of(piece));
    if (region != nullptr && region->kind == Region::own && bytes > growth_bytes_ / 2) {
        return move_region(region, bytes);
    }
    const bool leaves_own = region != nullptr && region->kind == Region::own;
    if (!leaves_own && try_resize(piece, bytes)) return piece;
    void* const moved = try_allocate(bytes);
    if (moved == nullptr) return leaves_own ? piece : nullptr;
    std::memcpy(moved, piece, std::min(usable_bytes(piece), bytes));
    deallocate(piece);
    return moved;
}

std::size_t Tlsf::usable_bytes(const void* piece) noexcept {
    return Block::of(piece)->bytes() - Block::head_bytes;
}

}  // namespace strid::memory
