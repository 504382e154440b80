// SPDX-License-Identifier: Apache-2.0
//
// Memory in constant time: the two-level segregated fit of Masmano, Ripoll, Crespo and Real ("TLSF:
// a new dynamic memory allocator for real-time systems", 2004; paper 3, II.G). For state with
// bounded response times: allocate and free take a fixed number of steps, whatever the arena holds.
//
// Free blocks are in lists by size. The first level is the power of two below the size, the second
// divides that range into 32 equal parts; below 512 bytes the lists are 16 bytes apart. One bit for
// each list is set if the list holds a block, one bit for each first level if any of its lists
// does. Two searches for a set bit find the first list at or above a size. The request is rounded
// up to the next list, so that the first block found there fits ("good fit"). Each block begins
// with one word, its size and two flags; the last word of a free block repeats the size (Knuth's
// boundary tag), so a freed block finds both neighbours and merges at once.
//
// Threads: one at a time, with a happens-before between; the memory itself may be used anywhere.
//
// Invariant: the blocks of a region lie end to end, from its first byte to a mark of size 0; no two
// free blocks touch; a free block is in the list of its size and in no other; a bit is set exactly
// when its list, or a list of its first level, is not empty. is_valid() checks this.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include <strid/engine/base/assert.hpp>
#include <strid/memory/counters.hpp>

namespace strid::memory {

namespace detail {
struct TlsfBlock;
struct TlsfRegion;
}  // namespace detail

/// The bytes that a TLSF arena holds, and those that are handed out.
struct TlsfUsage {
    std::size_t held = 0;      ///< of the system or given to the arena
    std::size_t live = 0;      ///< usable bytes of the pieces that are out
    std::size_t live_max = 0;  ///< the most that `live` has been
    std::size_t regions = 0;   ///< Pieces of memory that `held` consists of.
};

/// Memory in constant time: every request and every release takes a fixed number of steps. Threads:
/// one.
class Tlsf {
  public:
    static constexpr std::size_t alignment_min = 16;  ///< Of every piece.
    /// The largest request; also regions are smaller than twice that.
    static constexpr std::size_t bytes_max = std::size_t{1} << 39;
    /// The bytes that a region needs for itself.
    static constexpr std::size_t region_overhead_bytes = 64;

    /// How the memory is laid out.
    struct Options {
        std::size_t capacity_bytes = 0;  ///< acquired at once
        /// Least size of each further region; 0: the arena never grows. Growth takes a system call,
        /// which is not bounded in time. A request of more than half of it gets its own region,
        /// which goes back to the system when the request is freed.
        std::size_t growth_bytes = 0;
        /// Empty regions that are kept; further ones go back to the system when their last piece is
        /// freed. The region of `capacity_bytes` always stays.
        std::size_t spare_regions_max = SIZE_MAX;
        bool prefault = false;  ///< acquire the pages now and not on the first use
    };

    /// May throw std::bad_alloc.
    explicit Tlsf(Options options);
    /// The same, but without memory if the system cannot give the capacity: no exception.
    Tlsf(Options options, std::nothrow_t) noexcept;
    /// Over `memory`, which must outlive the arena and may have any alignment; it never grows. If
    /// the memory is too small for a region and one piece, the arena refuses every request.
    explicit Tlsf(std::span<std::byte> memory) noexcept;
    /// Gives every region back, and the pieces in them; runs no destructors of objects.
    ~Tlsf();
    Tlsf(const Tlsf&) = delete;
    Tlsf& operator=(const Tlsf&) = delete;

    /// Memory of at least `bytes` (0 counts as 1), aligned to `alignment` (a power of two); nullptr
    /// when no block fits and the arena may not grow, or the system is out of memory. O(1), without
    /// any loop. A fixed arena may refuse up to a 32nd less than its largest free block.
    [[nodiscard]] void* try_allocate(std::size_t bytes,
                                     std::size_t alignment = alignment_min) noexcept;

    /// As try_allocate(), but throws std::bad_alloc instead of returning nullptr.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = alignment_min);

    /// As try_allocate(), with every byte 0. O(bytes), unless the request gets its own region,
    /// whose pages the system has cleared.
    [[nodiscard]] void* try_allocate_zeroed(std::size_t bytes) noexcept;

    /// Gives a piece back; nullptr is ignored. O(1), without any loop. Never fails.
    void deallocate(void* piece) noexcept;
    /// As deallocate().
    void deallocate_local(void* piece) noexcept { deallocate(piece); }

    /// Makes a piece hold at least `bytes` in place: a smaller one gives its end back, a larger one
    /// takes from the free block behind it. Returns false, and changes nothing, if that block is
    /// not free or too small. O(1).
    [[nodiscard]] bool try_resize(void* piece, std::size_t bytes) noexcept;

    /// A piece of at least `bytes` with the same first bytes as `piece`, aligned to
    /// `alignment_min`: in place if possible, else in a new place, with `piece` freed. The system
    /// moves a region of its own without copying. Returns nullptr, and keeps `piece`, if there is
    /// no memory. For nullptr it is try_allocate(). O(1) in place, else O(bytes).
    [[nodiscard]] void* try_reallocate(void* piece, std::size_t bytes) noexcept;

    /// The usable bytes of a piece: at least as many as were requested. O(1).
    [[nodiscard]] static std::size_t usable_bytes(const void* piece) noexcept;

    /// Gives empty regions of growth back to the system; returns their bytes. Linear in the
    /// regions.
    std::size_t trim() noexcept;

    /// The allocating thread, as for all functions below except counters().
    [[nodiscard]] TlsfUsage usage() const noexcept { return usage_; }
    /// Any thread. `misses` counts the requests for which a region was added or refused.
    [[nodiscard]] PoolCounters counters() const noexcept { return tallies_.read(); }
    /// The largest request that the largest free block can serve; 0: there is none. Linear in the
    /// free blocks of the highest list that holds any.
    [[nodiscard]] std::size_t largest_free_bytes() const noexcept;
    /// Free blocks, in all regions. Linear in the number of blocks.
    [[nodiscard]] std::size_t free_blocks() const noexcept;
    /// Checks the invariant above. Linear in the number of blocks.
    [[nodiscard]] bool is_valid() const noexcept;

  private:
    using Block = detail::TlsfBlock;
    using Region = detail::TlsfRegion;

    static constexpr unsigned second_bits = 5;
    static constexpr unsigned second_levels = 1U << second_bits;
    static constexpr unsigned first_levels = 32;
    // Larger sizes are classed by their leading bits; smaller ones have a list for each size.
    static constexpr std::size_t small_bytes = alignment_min * second_levels;

    /// A list: its first level and its second.
    struct Place {
        unsigned first;
        unsigned second;
    };
    static constexpr Place place_of(std::size_t block_bytes) noexcept {
        if (block_bytes < small_bytes) {
            return {0, static_cast<unsigned>(block_bytes / alignment_min)};
        }
        const auto log = static_cast<unsigned>(std::bit_width(block_bytes)) - 1;
        return {log - static_cast<unsigned>(std::bit_width(small_bytes)) + 2,
                static_cast<unsigned>(block_bytes >> (log - second_bits)) - second_levels};
    }

    void link(Block* block) noexcept;
    void unlink(Block* block) noexcept;
    Block* take_fit(std::size_t block_bytes) noexcept;
    void* hand_out(Block* block, std::size_t block_bytes) noexcept;
    void* carve(std::size_t block_bytes, std::size_t alignment) noexcept;
    void* grow_and_carve(std::size_t block_bytes, std::size_t alignment, bool& cleared) noexcept;
    void give_up_end(Block* block, std::size_t block_bytes) noexcept;
    void* move_region(Region* region, std::size_t bytes) noexcept;

    Region* make_region(std::byte* memory, std::size_t bytes) noexcept;
    Region* add_region(std::size_t bytes) noexcept;
    void count_out(std::size_t block_bytes) noexcept;
    void region_is_empty(Region* region) noexcept;
    void remove_region(Region* region) noexcept;
    [[nodiscard]] bool is_valid(const Region& region, std::size_t& free_count,
                                std::size_t& live_bytes) const noexcept;
    [[nodiscard]] bool lists_are_valid(std::size_t free_count) const noexcept;

    std::uint32_t first_ = 0;  // bit i: second_[i] is not 0
    std::array<std::uint32_t, first_levels> second_{};
    std::array<std::array<Block*, second_levels>, first_levels> lists_{};

    Region* regions_ = nullptr;
    std::size_t growth_bytes_ = 0;
    std::size_t spare_regions_max_ = 0;
    std::size_t spare_regions_ = 0;  // empty ones of growth; not counted where all are kept
    bool prefault_ = false;
    TlsfUsage usage_;
    PoolTallies tallies_;
};

}  // namespace strid::memory
