// SPDX-License-Identifier: Apache-2.0
//
// The memory of all heaps: runs of units out of regions, under one lock.
//
// Units that were freed keep their pages for a while, and are allocated before fresh ones. They go
// back to the kernel when they have stayed free from one ageing to the next. The pool ages when it
// is entered and 200 ms have passed. They also go back when more than 32 MiB and an eighth of what
// is in use are free. A region without a unit in use is unmapped if another one is there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "layout.hpp"
#include "lock.hpp"

namespace strid::slab_malloc {

class RegionPool {
  public:
    struct Run {
        std::byte* memory = nullptr;  // null: no memory
        bool zero = false;            // every byte is 0
    };

    /// `units` that lie together, at most those of large_bytes_max. Any thread. O(regions).
    [[nodiscard]] Run take(std::size_t units) noexcept;
    /// Any thread.
    void give_back(std::byte* memory, std::size_t units) noexcept;
    /// Takes the `units` that follow `memory`, if they are free. Any thread.
    [[nodiscard]] bool take_at(std::byte* memory, std::size_t units) noexcept;
    /// Gives all free pages back to the kernel; false when there were none.
    bool purge() noexcept;

    /// Whether a region or a huge block begins with `region`. Any thread, without the lock.
    [[nodiscard]] bool is_known(const void* region) const noexcept {
        const std::size_t index = reinterpret_cast<std::uintptr_t>(region) / region_bytes;
        // Relaxed: a valid block was received from a thread that had it after the bit was set.
        return index < address_regions &&
               (known_[index / 64].load(std::memory_order_relaxed) >> index % 64 & 1) != 0;
    }
    void set_known(const void* region, bool known) noexcept;

    /// Held over a fork.
    [[nodiscard]] Lock& lock() noexcept { return lock_; }

    struct Usage {
        std::size_t units_in_use = 0;
        std::size_t units_dirty = 0;
        std::size_t regions = 0;
    };
    [[nodiscard]] Usage usage() noexcept;

  private:
    static constexpr std::size_t address_regions = (std::size_t{1} << 47) / region_bytes;

    [[nodiscard]] Region* add_region() noexcept;
    [[nodiscard]] Run take_from(Region& region, std::size_t first, std::size_t units) noexcept;
    void free_units(Region& region, std::size_t first, std::size_t units) noexcept;
    void purge_units(Region& region, const UnitSet& which) noexcept;
    void age() noexcept;
    void remove(Region& region) noexcept;

    Lock lock_;
    Region* regions_ = nullptr;
    std::size_t units_in_use_ = 0;
    std::size_t units_dirty_ = 0;
    std::size_t region_count_ = 0;
    std::size_t regions_empty_ = 0;
    std::int64_t aged_at_ms_ = 0;
    std::atomic<std::uint64_t> known_[address_regions / 64] = {};
};

/// The pool of the process.
extern constinit RegionPool region_pool;

/// Maps `bytes` at a multiple of `alignment`, or returns null.
[[nodiscard]] std::byte* map_aligned(std::size_t bytes, std::size_t alignment) noexcept;

}  // namespace strid::slab_malloc
