// SPDX-License-Identifier: Apache-2.0
//
// The regions of a TLSF arena: acquired, moved and given back.
#include <algorithm>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

#include <strid/memory/tlsf.hpp>

#include "tlsf_block.hpp"

namespace strid::memory {

namespace {

using Block = detail::TlsfBlock;
using Region = detail::TlsfRegion;

std::size_t whole_pages(std::size_t bytes) noexcept {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) & ~(page - 1);
}

std::byte* map(std::size_t bytes, bool prefault) noexcept {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (prefault ? MAP_POPULATE : 0);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

}  // namespace

Tlsf::Tlsf(Options options, std::nothrow_t) noexcept
    : growth_bytes_(options.growth_bytes),
      spare_regions_max_(options.spare_regions_max),
      prefault_(options.prefault) {
    if (options.capacity_bytes == 0 || options.capacity_bytes > bytes_max) return;
    constexpr std::size_t least = region_overhead_bytes + Block::bytes_min;
    Region* const region = add_region(std::max(options.capacity_bytes, least));
    if (region != nullptr) region->kind = Region::capacity;
}

Tlsf::Tlsf(std::span<std::byte> memory) noexcept {
    const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
    const std::size_t lost = (0 - start) & (alignment_min - 1);
    if (memory.size() < lost + region_overhead_bytes + Block::bytes_min) return;
    const std::size_t bytes = std::min((memory.size() - lost) & ~(alignment_min - 1), bytes_max);
    make_region(memory.data() + lost, bytes)->kind = Region::given;
}

Tlsf::~Tlsf() {
    STRID_PARANOID(is_valid());
    for (Region* region = regions_; region != nullptr;) {
        Region* const next = region->next;
        if (region->kind != Region::given) munmap(region, region->bytes);
        region = next;
    }
}

// One free block and the mark, in no order with the other regions.
Tlsf::Region* Tlsf::make_region(std::byte* memory, std::size_t bytes) noexcept {
    auto* const region = ::new (memory) Region{regions_, nullptr, bytes, Region::growth};
    if (regions_ != nullptr) regions_->previous = region;
    regions_ = region;
    usage_.held += bytes;
    ++usage_.regions;
    region->mark()->become_mark(region);
    region->first_block()->become_free(region->block_bytes());
    region->first_block()->mark_next();
    link(region->first_block());
    return region;
}

Tlsf::Region* Tlsf::add_region(std::size_t bytes) noexcept {
    bytes = whole_pages(bytes);
    if (bytes > 2 * bytes_max) return nullptr;
    std::byte* const memory = map(bytes, prefault_);
    return memory == nullptr ? nullptr : make_region(memory, bytes);
}

void* Tlsf::grow_and_carve(std::size_t block_bytes, std::size_t alignment, bool& cleared) noexcept {
    tallies_.misses.add();
    if (growth_bytes_ == 0) return nullptr;
    const std::size_t slack = alignment > alignment_min ? alignment + alignment_min : 0;
    const std::size_t needed = block_bytes + slack + region_overhead_bytes;
    const bool own = block_bytes > growth_bytes_ / 2;
    Region* const region = add_region(own ? needed : std::max(needed, growth_bytes_));
    if (region == nullptr) return nullptr;
    if (!own) {
        if (spare_regions_max_ != SIZE_MAX) ++spare_regions_;
        return carve(block_bytes, alignment);
    }
    region->kind = Region::own;
    cleared = true;
    if (slack != 0) return carve(block_bytes, alignment);
    unlink(region->first_block());
    return hand_out(region->first_block(), region->block_bytes());
}

void Tlsf::remove_region(Region* region) noexcept {
    usage_.held -= region->bytes;
    --usage_.regions;
    if (region->next != nullptr) region->next->previous = region->previous;
    (region->previous != nullptr ? region->previous->next : regions_) = region->next;
    munmap(region, region->bytes);
}

void Tlsf::region_is_empty(Region* region) noexcept {
    if (region->kind == Region::own ||
        (region->kind == Region::growth && spare_regions_ >= spare_regions_max_)) {
        unlink(region->first_block());
        remove_region(region);
    } else if (region->kind == Region::growth && spare_regions_max_ != SIZE_MAX) {
        ++spare_regions_;
    }
}

void* Tlsf::move_region(Region* region, std::size_t bytes) noexcept {
    const std::size_t new_bytes = whole_pages(bytes + Block::head_bytes + region_overhead_bytes);
    const std::size_t old_bytes = region->bytes;
    if (new_bytes == old_bytes) return region->first_block()->piece();
    void* const memory = mremap(region, old_bytes, new_bytes, MREMAP_MAYMOVE);
    if (memory == MAP_FAILED) return nullptr;
    auto* const moved = static_cast<Region*>(memory);
    moved->bytes = new_bytes;
    if (moved->next != nullptr) moved->next->previous = moved;
    (moved->previous != nullptr ? moved->previous->next : regions_) = moved;
    Block* const block = moved->first_block();
    block->head = moved->block_bytes();
    moved->mark()->become_mark(moved);
    usage_.held += new_bytes - old_bytes;
    usage_.live += new_bytes - old_bytes;
    usage_.live_max = std::max(usage_.live_max, usage_.live);
    return block->piece();
}

std::size_t Tlsf::trim() noexcept {
    const std::size_t held = usage_.held;
    for (Region* region = regions_; region != nullptr;) {
        Region* const next = region->next;
        Block* const first = region->first_block();
        if (region->kind == Region::growth && first->free() && first->after()->is_mark()) {
            unlink(first);
            remove_region(region);
        }
        region = next;
    }
    spare_regions_ = 0;
    return held - usage_.held;
}

}  // namespace strid::memory
