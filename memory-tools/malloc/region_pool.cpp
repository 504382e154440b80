// SPDX-License-Identifier: Apache-2.0
#include "region_pool.hpp"

#include <bit>
#include <cerrno>

#include <sys/mman.h>
#include <time.h>

namespace strid::slab_malloc {

constinit RegionPool region_pool;

namespace {

constexpr std::int64_t age_ms = 200;
constexpr std::size_t dirty_units_max = (std::size_t{32} << 20) / unit_bytes;
constexpr std::size_t units_of_region = region_units - header_units;
constexpr std::size_t nowhere = region_units;

std::int64_t now_ms() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

/// The first unit at or after `from` that is in `units`, or with `wanted` false the first that is
/// not.
std::size_t find(const UnitSet& units, std::size_t from, bool wanted) noexcept {
    for (std::size_t word = from / 64; word < UnitSet::word_count; ++word) {
        std::uint64_t bits = wanted ? units.words[word] : ~units.words[word];
        if (word == from / 64) bits &= ~std::uint64_t{0} << from % 64;
        if (bits != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    }
    return region_units;
}

/// The first of `units` consecutive free units; otherwise records the length of the longest run.
std::size_t find_run(Region& region, std::size_t units) noexcept {
    std::size_t longest = 0;
    for (std::size_t at = find(region.free, 0, true); at < region_units;) {
        const std::size_t end = find(region.free, at, false);
        if (end - at >= units) return at;
        if (end - at > longest) longest = end - at;
        at = end < region_units ? find(region.free, end, true) : region_units;
    }
    region.run_units_max = static_cast<std::uint32_t>(longest);
    return nowhere;
}

// Counted by the kernel, which then refuses what memory and swap together cannot hold.
std::byte* map(std::size_t bytes) noexcept {
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

}  // namespace

std::byte* map_aligned(std::size_t bytes, std::size_t alignment) noexcept {
    std::size_t padded = 0;
    if (__builtin_add_overflow(bytes, alignment, &padded)) return nullptr;
    std::byte* const memory = map(padded);
    if (memory == nullptr) return nullptr;
    const std::size_t address = reinterpret_cast<std::uintptr_t>(memory);
    const std::size_t before = round_up(address, alignment) - address;
    if (before != 0) munmap(memory, before);
    if (before != alignment) munmap(memory + before + bytes, alignment - before);
    return memory + before;
}

void RegionPool::set_known(const void* region, bool known) noexcept {
    const std::size_t index = reinterpret_cast<std::uintptr_t>(region) / region_bytes;
    if (index >= address_regions) return;
    const std::uint64_t bit = std::uint64_t{1} << index % 64;
    // Relaxed, as the load in is_known().
    if (known) {
        known_[index / 64].fetch_or(bit, std::memory_order_relaxed);
    } else {
        known_[index / 64].fetch_and(~bit, std::memory_order_relaxed);
    }
}

Region* RegionPool::add_region() noexcept {
    auto* const region = reinterpret_cast<Region*>(map_aligned(region_bytes, region_bytes));
    if (region == nullptr) return nullptr;
    // The kernel's pages are 0, the initial value of tags, slabs and sets.
    for (std::size_t unit = header_units; unit < region_units; ++unit) region->free.add(unit);
    region->free_units = units_of_region;
    region->run_units_max = units_of_region;
    set_known(region, true);
    // At the end: the region that was mapped first is filled first.
    Region** last = &regions_;
    while (*last != nullptr) last = &(*last)->next;
    *last = region;
    ++region_count_;
    ++regions_empty_;
    return region;
}

RegionPool::Run RegionPool::take_from(Region& region, std::size_t first,
                                      std::size_t units) noexcept {
    bool zero = true;
    if (region.free_units == units_of_region) --regions_empty_;
    for (std::size_t unit = first; unit < first + units; ++unit) {
        region.free.remove(unit);
        if (!region.dirty.has(unit)) continue;
        region.dirty.remove(unit);
        region.dirty_old.remove(unit);
        --units_dirty_;
        zero = false;
    }
    region.free_units -= static_cast<std::uint32_t>(units);
    units_in_use_ += units;
    return {region.unit(first), zero};
}

RegionPool::Run RegionPool::take(std::size_t units) noexcept {
    const Locked locked(lock_);
    age();
    if (units == 1 && units_dirty_ != 0) {
        for (Region* region = regions_; region != nullptr; region = region->next) {
            const std::size_t unit = find(region->dirty, 0, true);
            if (unit < region_units) return take_from(*region, unit, 1);
        }
    }
    for (Region* region = regions_; region != nullptr; region = region->next) {
        if (region->free_units < units || region->run_units_max < units) continue;
        const std::size_t first = find_run(*region, units);
        if (first != nowhere) return take_from(*region, first, units);
    }
    Region* const region = add_region();
    if (region == nullptr) return {};
    return take_from(*region, find_run(*region, units), units);
}

bool RegionPool::take_at(std::byte* memory, std::size_t units) noexcept {
    const Locked locked(lock_);
    Region* const region = region_of(memory);
    const auto offset = static_cast<std::size_t>(memory - reinterpret_cast<std::byte*>(region));
    const std::size_t first = offset / unit_bytes;
    if (first + units > region_units) return false;
    for (std::size_t unit = first; unit < first + units; ++unit) {
        if (!region->free.has(unit)) return false;
    }
    (void)take_from(*region, first, units);
    return true;
}

void RegionPool::free_units(Region& region, std::size_t first, std::size_t units) noexcept {
    for (std::size_t unit = first; unit < first + units; ++unit) {
        region.tags[unit] = Tag{};
        region.free.add(unit);
        region.dirty.add(unit);
    }
    region.free_units += static_cast<std::uint32_t>(units);
    region.run_units_max = units_of_region;
    units_dirty_ += units;
    units_in_use_ -= units;
}

void RegionPool::give_back(std::byte* memory, std::size_t units) noexcept {
    const Locked locked(lock_);
    Region& region = *region_of(memory + 1);
    free_units(region, unit_of(memory), units);
    if (region.free_units == units_of_region) {
        if (regions_empty_ != 0) {
            remove(region);
        } else {
            ++regions_empty_;
        }
    }
    age();
    if (units_dirty_ <= dirty_units_max + units_in_use_ / 8) return;
    for (Region* other = regions_; other != nullptr; other = other->next) {
        purge_units(*other, other->dirty);
    }
}

void RegionPool::remove(Region& region) noexcept {
    Region** link = &regions_;
    while (*link != &region) link = &(*link)->next;
    *link = region.next;
    for (const std::uint64_t word : region.dirty.words) {
        units_dirty_ -= static_cast<std::size_t>(std::popcount(word));
    }
    --region_count_;
    set_known(&region, false);
    const int errno_before = errno;
    munmap(&region, region_bytes);
    errno = errno_before;
}

void RegionPool::purge_units(Region& region, const UnitSet& which) noexcept {
    const UnitSet units = which;  // it may be one of the sets below
    const int errno_before = errno;
    for (std::size_t at = find(units, 0, true); at < region_units;) {
        const std::size_t end = find(units, at, false);
        if (madvise(region.unit(at), (end - at) * unit_bytes, MADV_DONTNEED) == 0) {
            for (std::size_t unit = at; unit < end; ++unit) {
                region.dirty.remove(unit);
                region.dirty_old.remove(unit);
            }
            units_dirty_ -= end - at;
        }
        at = end < region_units ? find(units, end, true) : region_units;
    }
    errno = errno_before;
}

void RegionPool::age() noexcept {
    if (units_dirty_ == 0) return;
    const std::int64_t now = now_ms();
    if (now - aged_at_ms_ < age_ms) return;
    aged_at_ms_ = now;
    for (Region* region = regions_; region != nullptr; region = region->next) {
        purge_units(*region, region->dirty_old);
        region->dirty_old = region->dirty;
    }
}

bool RegionPool::purge() noexcept {
    const Locked locked(lock_);
    const bool had_some = units_dirty_ != 0;
    for (Region* region = regions_; region != nullptr; region = region->next) {
        purge_units(*region, region->dirty);
    }
    return had_some;
}

RegionPool::Usage RegionPool::usage() noexcept {
    const Locked locked(lock_);
    return {units_in_use_, units_dirty_, region_count_};
}

}  // namespace strid::slab_malloc
