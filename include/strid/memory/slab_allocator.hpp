// SPDX-License-Identifier: Apache-2.0
//
// Small objects allocated by ONE thread and freed by others: the slab allocator of paper 1 (4.2.1).
// Each freeing thread has its own return lane (free_lane.hpp). The owner takes the objects out of
// the lanes whenever a slab runs out, so no operation of either side waits or retries.
//
// A slab is `slab_bytes` of memory, aligned to its size, with a header in front: masking the
// address of a chunk gives its slab. The chunks of a slab have one size. A bitmap in the header
// marks the free ones, so that freeing never writes to the chunk: its line stays shared with the
// thread that read it, and the owner's next write to it need not wait. The owner allocates from one
// 64-bit word of the bitmap at a time, lowest address first: two instructions per object.
//
// Threads: the owner's functions may move between threads only with a happens-before between the
// calls. Lane i is used by one thread at a time. The allocator must outlive every use of its
// memory. Its destructor releases memory that was never freed, and runs no destructors of objects.
//
// Invariant, for each slab:   in_use + popcount(free bits) == chunk_count
// Here in_use counts chunks handed out, chunks in a lane, and chunks of the word that the size
// class allocates from. By that count a slab is in exactly one place:
//     current  the one its size class allocates from
//     full     in_use == chunk_count: in no list
//     partial  in the class's list of partly free slabs
//     empty    in_use == 0: cached, at most `cached_slabs` per class, the rest given back
// Alignment: a chunk is aligned to the largest power of two that divides the size of its class.
// Larger requests (over `small_bytes_max` or `alignment_max`) pass through to operator new, with a
// header at a slab-aligned address, so that masking finds it too.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/memory/free_lane.hpp>
#include <strid/engine/memory/size_class.hpp>
#include <strid/memory/counters.hpp>

namespace strid::memory {

namespace detail {
struct Slab;
struct SlabList {
    Slab* first = nullptr;
    Slab* last = nullptr;
    std::size_t count = 0;
};
}  // namespace detail

/// The memory that a slab allocator holds of the system. Any thread may read it.
struct SlabUsage {
    std::uint64_t slabs_acquired = 0;    ///< from the system, since construction
    std::uint64_t slabs_given_back = 0;  ///< to the system
    std::uint64_t large_acquired = 0;    ///< requests passed through to operator new
    std::uint64_t large_given_back = 0;  ///< Of large_acquired, freed again.

    /// Slabs that the allocator has now.
    [[nodiscard]] std::uint64_t slabs_held() const noexcept {
        return slabs_acquired - slabs_given_back;
    }
};

/// Objects allocated by one thread, the owner, and freed by others over lanes.
class SlabAllocator {
  public:
    /// Memory that is acquired from the system at once.
    static constexpr std::size_t slab_bytes = std::size_t{64} * 1024;
    /// Larger requests go to operator new.
    static constexpr std::size_t small_bytes_max = SizeClasses::bytes_max;
    static constexpr std::size_t alignment_max = 4096;  ///< of a small request

    /// How the allocator is laid out.
    struct Options {
        std::size_t lanes = 1;          ///< freeing threads besides the owner
        std::size_t cached_slabs = 4;   ///< empty slabs kept per size class
        std::size_t lane_slots = 4096;  ///< freed objects in a lane before it uses the overflow
    };

    /// By the owner. Throws std::bad_alloc.
    explicit SlabAllocator(Options options);
    ~SlabAllocator();
    SlabAllocator(const SlabAllocator&) = delete;
    SlabAllocator& operator=(const SlabAllocator&) = delete;

    /// Owner. Memory of at least `bytes` (0 counts as 1), aligned to `alignment` (a power of two).
    /// A few nanoseconds; O(lanes + freed objects) when a slab has run out. Throws std::bad_alloc.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = 16) {
        if (bytes <= small_bytes_max && alignment <= SizeClasses::step_bytes) [[likely]] {
            return allocate_from(classes_[SizeClasses::index_of(bytes)]);
        }
        return allocate_unusual(bytes, alignment);
    }

    /// The thread of `lane`. Gives memory back; nullptr is ignored. Never fails.
    void deallocate(void* memory, std::size_t lane) noexcept {
        STRID_ASSERT(lane < lanes_.size());
        if (memory == nullptr) return;
        // The content is dead, and the owner writes the line next (docs/design/0008).
        if (reading_delays_writers()) reclaim_lines(static_cast<std::byte*>(memory), 1);
        lanes_[lane]->give(memory);
    }

    /// Owner. Gives memory back directly; nullptr is ignored.
    void deallocate_local(void* memory) noexcept;

    /// Owner. Takes the objects out of the lanes, and gives back slabs and large memory that this
    /// leaves empty. allocate() calls it when needed; an owner that becomes idle should call it,
    /// too.
    void collect() noexcept;

    /// Freeing threads besides the owner.
    [[nodiscard]] std::size_t lanes() const noexcept { return lanes_.size(); }
    /// Any thread. Pieces are objects; misses are new slabs and large requests.
    [[nodiscard]] PoolCounters counters() const noexcept { return tallies_.read(); }
    /// Any thread.
    [[nodiscard]] SlabUsage usage() const noexcept;

    /// The usable bytes of `memory`, which a slab allocator allocated.
    [[nodiscard]] static std::size_t usable_bytes(const void* memory) noexcept;
    /// Owner, while no lane is in use. O(all chunks). Checks the invariant above.
    [[nodiscard]] bool is_valid() const;

  private:
    // The owner's state for one size: the word it allocates from, and where its slabs are. Of its
    // two cache lines an allocation uses the first only.
    struct alignas(cache_line_bytes) SizeClass {
        std::uint64_t word = 0;          // free chunks in hand
        std::byte* word_base = nullptr;  // the chunk of bit 0
        std::size_t chunk_bytes = 0;
        detail::Slab* current = nullptr;
        std::size_t next_word = 0;  // of the current slab's bitmap
        std::size_t index = 0;
        detail::SlabList partial;  // from here on line 1
        detail::SlabList empty;
    };
    static_assert(sizeof(SizeClass) == 2 * cache_line_bytes);

    void* allocate_from(SizeClass& size_class) {
        if (size_class.word == 0) [[unlikely]]
            refill(size_class);
        const auto bit = static_cast<std::size_t>(std::countr_zero(size_class.word));
        size_class.word &= size_class.word - 1;
        tallies_.leased.add();
        return size_class.word_base + bit * size_class.chunk_bytes;
    }
    void* allocate_unusual(std::size_t bytes, std::size_t alignment);
    void* allocate_large(std::size_t bytes, std::size_t alignment);
    void refill(SizeClass& size_class);
    bool take_word(SizeClass& size_class) noexcept;
    void retire_current(SizeClass& size_class) noexcept;
    detail::Slab* next_slab(SizeClass& size_class);
    detail::Slab* acquire_slab(SizeClass& size_class);
    void give_back(detail::Slab* slab) noexcept;
    // Objects that come home one after the other in one word of one bitmap, which is the usual
    // case: the slab's header is written once for all of them.
    struct Run {
        detail::Slab* slab = nullptr;
        std::size_t word = 0;
        std::uint64_t bits = 0;
    };
    static Run find(detail::Slab* slab, void* memory) noexcept;
    void take_home(const Run& run) noexcept;
    void give_back_large(detail::Slab* large) noexcept;
    void settle(detail::Slab* slab) noexcept;
    [[nodiscard]] bool is_class_valid(const SizeClass& size_class, std::size_t& in_hand) const;

    std::array<SizeClass, SizeClasses::count> classes_;
    std::vector<std::unique_ptr<FreeLane<>>> lanes_;
    detail::SlabList all_slabs_;
    detail::SlabList all_large_;
    std::size_t cached_slabs_;
    PoolTallies tallies_;
    Tally slabs_acquired_;
    Tally slabs_given_back_;
    Tally large_acquired_;
    Tally large_given_back_;
};

}  // namespace strid::memory
