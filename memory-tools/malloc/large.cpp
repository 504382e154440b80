// SPDX-License-Identifier: Apache-2.0
#include "large.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>

#include <sys/mman.h>

#include "fault.hpp"
#include "layout.hpp"
#include "region_pool.hpp"

namespace strid::slab_malloc {

namespace {

constexpr std::size_t huge_alignment_in_region = region_bytes / 2;

HugeBlock* huge_of(const void* memory) noexcept {
    return reinterpret_cast<HugeBlock*>(region_of(memory));
}

void describe_huge(std::byte* header, std::byte* memory, std::size_t mapping_bytes) noexcept {
    auto* const huge = reinterpret_cast<HugeBlock*>(header);
    huge->tags[unit_of(memory)].kind = Kind::huge;
    huge->memory = memory;
    huge->mapping_bytes = mapping_bytes;
    huge->usable_bytes = static_cast<std::size_t>(header + mapping_bytes - memory);
    region_pool.set_known(header, true);
}

// Its pages come from the kernel, so every byte is 0.
void* allocate_huge(std::size_t bytes, std::size_t alignment) noexcept {
    if (bytes > PTRDIFF_MAX - 4 * region_bytes || alignment > PTRDIFF_MAX / 4) return nullptr;
    bytes = round_up(std::max(bytes, std::size_t{1}), page_bytes);
    if (alignment <= huge_alignment_in_region) {
        const std::size_t offset = std::max(alignment, header_units * unit_bytes);
        std::byte* const header = map_aligned(offset + bytes, region_bytes);
        if (header == nullptr) return nullptr;
        describe_huge(header, header + offset, offset + bytes);
        return header + offset;
    }
    // The header is the region before the multiple of `alignment`.
    std::byte* const mapping = map_aligned(alignment + bytes, alignment);
    if (mapping == nullptr) return nullptr;
    std::byte* const memory = mapping + alignment;
    std::byte* const header = memory - region_bytes;
    if (header != mapping) munmap(mapping, static_cast<std::size_t>(header - mapping));
    describe_huge(header, memory, region_bytes + bytes);
    return memory;
}

void* resize_huge(void* memory, std::size_t bytes) noexcept {
    HugeBlock* const huge = huge_of(memory);
    auto* const header = reinterpret_cast<std::byte*>(huge);
    const auto offset = static_cast<std::size_t>(huge->memory - header);
    // A move would lose an alignment that is not the region's.
    if (offset != header_units * unit_bytes || bytes > PTRDIFF_MAX - 4 * region_bytes) {
        return nullptr;
    }
    const std::size_t mapping_bytes = offset + round_up(bytes, page_bytes);
    if (mremap(header, huge->mapping_bytes, mapping_bytes, 0) == header) {
        describe_huge(header, huge->memory, mapping_bytes);
        return memory;
    }
    std::byte* const target = map_aligned(mapping_bytes, region_bytes);
    if (target == nullptr) return nullptr;
    const std::size_t old_bytes = huge->mapping_bytes;
    region_pool.set_known(header, false);
    if (mremap(header, old_bytes, mapping_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target) != target) {
        region_pool.set_known(header, true);
        munmap(target, mapping_bytes);
        return nullptr;
    }
    describe_huge(target, target + offset, mapping_bytes);
    return target + offset;
}

}  // namespace

void* allocate_large(std::size_t bytes, std::size_t alignment, bool zero) noexcept {
    if (bytes > large_bytes_max || alignment > unit_bytes) return allocate_huge(bytes, alignment);
    const std::size_t units = std::max(round_up(bytes, unit_bytes) / unit_bytes, std::size_t{1});
    const RegionPool::Run run = region_pool.take(units);
    if (run.memory == nullptr) return nullptr;
    Region* const region = region_of(run.memory + 1);
    const std::size_t first_unit = unit_of(run.memory);
    Slab& slab = *new (&region->slabs[first_unit]) Slab;
    slab.units = static_cast<std::uint16_t>(units);
    slab.first_unit = static_cast<std::uint16_t>(first_unit);
    region->tags[first_unit] = {nullptr, 0, Kind::large, static_cast<std::uint16_t>(first_unit),
                                0,       0};
    if (zero && !run.zero) std::memset(run.memory, 0, bytes);
    return run.memory;
}

void release_large(void* memory) noexcept {
    const Slab& slab = slab_of(memory);
    auto* const bytes = static_cast<std::byte*>(memory);
    if (region_of(memory)->unit(slab.first_unit) != bytes) {
        fault("free of an address that is no block", memory);
    }
    region_pool.give_back(bytes, slab.units);
}

void release_huge(void* memory) noexcept {
    HugeBlock* const huge = huge_of(memory);
    if (huge->memory != memory) fault("free of an address that is no block", memory);
    region_pool.set_known(huge, false);
    const int errno_before = errno;
    munmap(huge, huge->mapping_bytes);
    errno = errno_before;
}

std::size_t huge_bytes(const void* memory) noexcept {
    return huge_of(memory)->usable_bytes;
}

void* resize_large(void* memory, std::size_t bytes) noexcept {
    const int errno_before = errno;
    if (tag_of(memory).kind == Kind::huge) {
        void* const resized = bytes > large_bytes_max ? resize_huge(memory, bytes) : nullptr;
        errno = errno_before;
        return resized;
    }
    if (bytes > large_bytes_max || bytes <= small_bytes_max) return nullptr;
    Slab& slab = slab_of(memory);
    const std::size_t units = round_up(bytes, unit_bytes) / unit_bytes;
    auto* const block = static_cast<std::byte*>(memory);
    if (units > slab.units) {
        if (!region_pool.take_at(block + slab.units * unit_bytes, units - slab.units)) {
            return nullptr;
        }
    } else if (units < slab.units) {
        region_pool.give_back(block + units * unit_bytes, slab.units - units);
    }
    slab.units = static_cast<std::uint16_t>(units);
    return memory;
}

}  // namespace strid::slab_malloc
