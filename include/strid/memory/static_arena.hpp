// SPDX-License-Identifier: Apache-2.0
//
// Memory that is allocated in order and released all at once when the arena is destroyed. Two uses:
// - the "static allocator" of paper 1 (5.1), which acquires all memory up front and releases it at
//   the end: the limit that every other allocator is compared with;
// - memory for data that stays, such as the keys of an operator's state (`intern`); it grows by
//   whole regions.
//
// Threads: one thread at a time allocates; any thread may use the memory; deallocate() does
// nothing, on any thread.
//
// Invariant: pieces never overlap and never move; bytes_used() <= bytes_held(); the free bytes are
// the end of the newest region; an arena that may not grow holds exactly one region.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <strid/engine/base/assert.hpp>
#include <strid/memory/counters.hpp>

namespace strid::memory {

/// Memory that is handed out in order and released at once. Threads: one.
class StaticArena {
  public:
    static constexpr std::size_t alignment_max = 4096;  ///< Of a request.

    /// How the arena is laid out.
    struct Options {
        std::size_t capacity_bytes = 0;  ///< acquired at once
        std::size_t growth_bytes = 0;    ///< least size of each further region; 0: it never grows
        bool prefault = false;           ///< touch every page now and not on the first use
    };

    /// May throw std::bad_alloc.
    explicit StaticArena(Options options);
    ~StaticArena();
    StaticArena(const StaticArena&) = delete;
    StaticArena& operator=(const StaticArena&) = delete;

    /// Memory of `bytes`, aligned to a power of two up to `alignment_max`; nullptr when the arena
    /// is used up and may not grow, or the system is out of memory. O(1).
    [[nodiscard]] void* try_allocate(std::size_t bytes, std::size_t alignment = 16) noexcept {
        STRID_ASSERT(std::has_single_bit(alignment) && alignment <= alignment_max);
        const std::uintptr_t start = (next_ + alignment - 1) & ~(alignment - 1);
        if (start > end_ || end_ - start < bytes) [[unlikely]]
            return try_grow(bytes, alignment);
        next_ = start + bytes;
        tallies_.leased.add();
        return reinterpret_cast<void*>(start);
    }

    /// As try_allocate(), but throws std::bad_alloc instead of returning nullptr.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = 16);

    /// Does nothing: the memory stays until the arena is destroyed. It lets the arena replace the
    /// other allocators of this room.
    void deallocate(void*, std::size_t) noexcept {}
    /// Nothing, as above.
    void deallocate_local(void*) noexcept {}

    /// A copy of `text` that lives as long as the arena. May throw std::bad_alloc.
    [[nodiscard]] std::string_view intern(std::string_view text);

    /// Bytes allocated, or lost to alignment and to the ends of regions.
    [[nodiscard]] std::size_t bytes_used() const noexcept { return bytes_held_ - (end_ - next_); }
    /// Bytes that the arena has of the system.
    [[nodiscard]] std::size_t bytes_held() const noexcept { return bytes_held_; }
    /// Any thread. `misses` counts the requests for which a region was added or refused.
    [[nodiscard]] PoolCounters counters() const noexcept { return tallies_.read(); }
    /// The allocating thread. Checks the invariant above.
    [[nodiscard]] bool is_valid() const noexcept;

  private:
    struct Region {
        std::byte* memory;
        std::size_t bytes;
    };
    void* try_grow(std::size_t bytes, std::size_t alignment) noexcept;
    void add_region(std::size_t bytes);

    std::uintptr_t next_ = 0;  // the free bytes of the newest region: [next_, end_)
    std::uintptr_t end_ = 0;
    std::size_t growth_bytes_;
    std::size_t bytes_held_ = 0;
    std::vector<Region> regions_;
    PoolTallies tallies_;
};

}  // namespace strid::memory
