// SPDX-License-Identifier: Apache-2.0
//
// The functions of a TLSF arena that throw or are slow: the check of the invariant, and reports.
#include <algorithm>
#include <new>

#include <strid/memory/tlsf.hpp>

#include "tlsf_block.hpp"

namespace strid::memory {

namespace {

using Block = detail::TlsfBlock;

}  // namespace

Tlsf::Tlsf(Options options) : Tlsf(options, std::nothrow) {
    if (options.capacity_bytes != 0 && regions_ == nullptr) throw std::bad_alloc{};
}

void* Tlsf::allocate(std::size_t bytes, std::size_t alignment) {
    void* const piece = try_allocate(bytes, alignment);
    if (piece == nullptr) throw std::bad_alloc{};
    return piece;
}

std::size_t Tlsf::largest_free_bytes() const noexcept {
    if (first_ == 0) return 0;
    const auto first = static_cast<unsigned>(std::bit_width(first_)) - 1;
    const auto second = static_cast<unsigned>(std::bit_width(second_[first])) - 1;
    std::size_t largest = 0;
    for (const Block* block = lists_[first][second]; block != nullptr; block = block->next_free) {
        largest = std::max(largest, block->bytes());
    }
    return largest - Block::head_bytes;
}

std::size_t Tlsf::free_blocks() const noexcept {
    std::size_t count = 0;
    for (const auto& row : lists_) {
        for (const Block* block : row) {
            for (; block != nullptr; block = block->next_free) ++count;
        }
    }
    return count;
}

bool Tlsf::is_valid(const Region& region, std::size_t& free_count,
                    std::size_t& live_bytes) const noexcept {
    bool previous_free = false;
    const Block* block = region.first_block();
    const Block* const mark = region.mark();
    while (block < mark) {
        if (block->bytes() < Block::bytes_min || block->after() > mark) return false;
        if (block->previous_free_lies_before() != previous_free) return false;
        if (block->free()) {
            if (previous_free || block->after()->before() != block) return false;
            ++free_count;
        } else {
            live_bytes += block->bytes() - Block::head_bytes;
        }
        previous_free = block->free();
        block = block->after();
    }
    return block == mark && mark->is_mark() && !mark->free() &&
           mark->previous_free_lies_before() == previous_free && mark->region_of_mark() == &region;
}

bool Tlsf::lists_are_valid(std::size_t free_count) const noexcept {
    for (unsigned first = 0; first < first_levels; ++first) {
        if (((first_ >> first & 1U) != 0) != (second_[first] != 0)) return false;
        for (unsigned second = 0; second < second_levels; ++second) {
            const Block* block = lists_[first][second];
            if (((second_[first] >> second & 1U) != 0) != (block != nullptr)) return false;
            for (const Block* last = nullptr; block != nullptr; block = block->next_free) {
                const Place place = place_of(block->bytes());
                if (!block->free() || block->previous_free != last || free_count == 0 ||
                    place.first != first || place.second != second) {
                    return false;
                }
                --free_count;  // also ends a list that is a ring
                last = block;
            }
        }
    }
    return free_count == 0;
}

bool Tlsf::is_valid() const noexcept {
    std::size_t free_count = 0;
    std::size_t live_bytes = 0;
    std::size_t held_bytes = 0;
    std::size_t count = 0;
    std::size_t empty_count = 0;
    const Region* last = nullptr;
    for (const Region* region = regions_; region != nullptr; region = region->next) {
        if (region->previous != last || !is_valid(*region, free_count, live_bytes)) return false;
        held_bytes += region->bytes;
        const Block* const first = region->first_block();
        empty_count += region->kind == Region::growth && first->free() && first->after()->is_mark();
        last = region;
        ++count;
    }
    return held_bytes == usage_.held && live_bytes == usage_.live && count == usage_.regions &&
           usage_.live <= usage_.live_max &&
           (spare_regions_max_ == SIZE_MAX || empty_count == spare_regions_) &&
           lists_are_valid(free_count);
}

}  // namespace strid::memory
