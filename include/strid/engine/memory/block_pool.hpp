// SPDX-License-Identifier: Apache-2.0
//
// A bounded pool of equal blocks, the memory of batches. ONE owner thread at a time leases blocks;
// each consumer gives blocks back over its own lane (paper 1, 4.2.1). A refused lease IS the
// back-pressure of the engine: the capacity is the most that a slow consumer can make a producer
// hold.
//
// Threads: the owner's functions may move between threads only with a happens-before between the
// calls (a cooperative task). Lane i is used by one consumer thread at a time, likewise. The pool
// must outlive every release; the destructor also frees blocks that are still out.
//
// Invariant: every block acquired is in exactly one place:
//     acquired == free list + out,   out == with readers + in lanes == leased - returned
//     out <= capacity as the owner knows it, but for debt.
// Blocks acquired in debt are kept for the next debt, so that a fan-out that repeats costs no
// allocation. A block that comes home while acquired > 2 * capacity is freed. A block at home has 0
// references; one that is out has a reference for each reader that still has to release it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/memory/return_lane.hpp>
#include <strid/engine/memory/starved_flag.hpp>
#include <strid/memory/counters.hpp>

namespace strid::memory {

class BlockPool;

/// Header of a block: one cache line. The payload follows, aligned to a cache line as well.
struct alignas(cache_line_bytes) Block {
    Block* next;      ///< link while at home or in a lane; free for the holder's use otherwise
    BlockPool* home;  ///< the pool that release() returns it to
    /// Readers that still have to release the block; 1 when leased. A multicast stores the size of
    /// its group before it hands the block to the first reader.
    std::atomic<std::uint32_t> references;
    std::uint32_t payload_bytes;
    std::uint32_t registry_index;  ///< the owner's: index of this block in the pool's list
    /// The holder's: a note about the payload, for the readers of the block.
    alignas(8) std::array<std::byte, 16> note;

    [[nodiscard]] std::byte* payload() noexcept {
        return reinterpret_cast<std::byte*>(this) + cache_line_bytes;
    }
    [[nodiscard]] const std::byte* payload() const noexcept {
        return reinterpret_cast<const std::byte*>(this) + cache_line_bytes;
    }
};
static_assert(sizeof(Block) == cache_line_bytes, "the header is exactly one line");

class BlockPool {
  public:
    struct Options {
        std::size_t payload_bytes = 0;
        std::size_t capacity_blocks = 1;  ///< at least 1
        std::size_t lanes = 1;            ///< at least 1
        std::size_t bunch_blocks = 0;  ///< blocks a lane gathers before publishing; 0: by capacity
    };

    /// Acquires the first block at once, the others when they are first needed. Because the first
    /// block exists, running out of memory later causes back-pressure and no deadlock. May throw
    /// std::bad_alloc or std::length_error (a payload of 4 GiB or more).
    explicit BlockPool(Options options);
    ~BlockPool();
    BlockPool(const BlockPool&) = delete;
    BlockPool& operator=(const BlockPool&) = delete;

    /// Owner. A block with one reference, or nullptr when `capacity_blocks` are out. O(1)
    /// amortised.
    [[nodiscard]] Block* try_lease() noexcept;

    /// Owner. Always returns a block, beyond the capacity if need be: the output of one record must
    /// be stored somewhere. Counted as debt. May throw std::bad_alloc.
    [[nodiscard]] Block* lease_in_debt();

    /// Owner. Whether try_lease() would succeed, unless the system is out of memory. Reads the
    /// lanes only when the capacity is out.
    [[nodiscard]] bool can_lease() noexcept;

    /// Consumer of `lane`. Drops one reference; the last one sends the block home. Returns true for
    /// the last one. The block may still be pending in the lane, unless the owner starves.
    bool release(Block* block, std::size_t lane) noexcept;

    /// Owner. Takes back a block that no other thread has seen.
    void give_back_local(Block* block) noexcept;

    /// Consumer of `lane`. Publishes the pending blocks of the lane. A consumer that is about to
    /// wait must call this and then take_starved(): otherwise the owner could wait for ever.
    void flush_lane(std::size_t lane) noexcept;

    /// Owner, after a refused lease. Announces that the owner is about to wait. Returns false when
    /// blocks have come back meanwhile: then the owner must not wait, because no consumer will wake
    /// it.
    [[nodiscard]] bool set_starved() noexcept;

    /// Consumer, after publishing. True for exactly one caller per set_starved(); that caller must
    /// wake the owner.
    [[nodiscard]] bool take_starved() noexcept { return starved_.take(); }

    /// Any thread.
    [[nodiscard]] PoolCounters counters() const noexcept { return tallies_.read(); }
    [[nodiscard]] std::size_t payload_bytes() const noexcept { return options_.payload_bytes; }
    [[nodiscard]] std::size_t capacity_blocks() const noexcept { return options_.capacity_blocks; }
    [[nodiscard]] std::size_t lanes() const noexcept { return lanes_.size(); }
    [[nodiscard]] std::size_t bunch_blocks() const noexcept { return options_.bunch_blocks; }

    /// Owner, while no consumer is inside. O(blocks). Checks the invariant above.
    [[nodiscard]] bool is_valid() const;

  private:
    Block* acquire();
    void dismiss(Block* block) noexcept;
    void take_home(Block* block) noexcept;
    void collect() noexcept;
    /// Fewer than `capacity_blocks` are out, as far as the owner knows.
    [[nodiscard]] bool within_capacity() const noexcept {
        return acquired_.size() - free_count_ < options_.capacity_blocks;
    }
    Block* lease_free() noexcept;
    Block* leased(Block* block) noexcept;

    // The owner's lines.
    Options options_;
    Block* free_ = nullptr;
    std::size_t free_count_ = 0;
    std::vector<Block*> acquired_;  // every block, wherever it is
    std::deque<ReturnLane<Block>> lanes_;
    PoolTallies tallies_;
    StarvedFlag<> starved_;
};

}  // namespace strid::memory
