// SPDX-License-Identifier: Apache-2.0
//
// A bounded pool of equal blocks: the memory that batches travel in. ONE owner thread at a time
// leases; each consumer gives blocks back over a lane of its own (paper 1, 4.2.1). A refused lease
// IS the back-pressure of the engine: capacity is the most a slow consumer can make a producer
// hold.
//
// Threads: the owner's functions may move between threads only with a happens-before between (a
// cooperative task). Lane i is used by one consumer thread at a time, likewise. The pool outlives
// every release; blocks that are still out when it dies are freed with it.
//
// Law: every block acquired is in exactly one place:
//     acquired == free list + out,   out == with readers + in lanes == leased - returned
//     out <= capacity as the owner knows it, but for debt. Blocks acquired in debt are kept for the
//     next debt, so that a fan-out that repeats costs no allocation; one that comes home while
//     acquired > 2 * capacity is freed.
// A block at home has 0 references; one that is out has as many as readers still have to release
// it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <strid/base/assert.hpp>
#include <strid/base/cache_line.hpp>
#include <strid/memory/counters.hpp>
#include <strid/memory/return_lane.hpp>
#include <strid/memory/starved_flag.hpp>

namespace strid::memory {

class BlockPool;

/// Header of a block: one cache line, which its payload follows, aligned to a cache line as well.
struct alignas(cache_line_bytes) Block {
    Block* next;      ///< link while at home or in a lane; free for the holder's use otherwise
    BlockPool* home;  ///< where release() must go
    /// Readers that still have to release the block; 1 when leased. A multicast stores the size of
    /// its group before it hands the block to the first reader.
    std::atomic<std::uint32_t> references;
    std::uint32_t payload_bytes;
    std::uint32_t registry_index;  ///< the owner's: where the pool's list of blocks names this one
    /// The holder's: what it notes of the payload, read by those that the block is handed to.
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

    /// Acquires the first block at once, the others when they are first needed. Because of the
    /// first, running out of memory later is back-pressure and not a standstill. May throw
    /// std::bad_alloc or std::length_error (a payload of 4 GiB or more).
    explicit BlockPool(Options options);
    ~BlockPool();
    BlockPool(const BlockPool&) = delete;
    BlockPool& operator=(const BlockPool&) = delete;

    /// Owner. A block with one reference, or nullptr when `capacity_blocks` are out. O(1)
    /// amortised.
    [[nodiscard]] Block* try_lease() noexcept;

    /// Owner. Always a block, beyond the capacity if need be (the fan-out of one record must end
    /// somewhere). Counted. May throw std::bad_alloc.
    [[nodiscard]] Block* lease_in_debt();

    /// Owner. Whether try_lease() would succeed (but for the system being out of memory). Looks
    /// into the lanes only when the capacity is out.
    [[nodiscard]] bool can_lease() noexcept;

    /// Consumer of `lane`. Drops one reference; the last one sends the block home. Returns true
    /// for that last one. The block may still be pending in the lane, unless the owner starves.
    bool release(Block* block, std::size_t lane) noexcept;

    /// Owner. Returns a block that nobody else has seen.
    void give_back_local(Block* block) noexcept;

    /// Consumer of `lane`. Publishes what the lane holds pending. A consumer that is about to wait
    /// calls this and then take_starved(): otherwise the owner could wait for it for ever.
    void flush_lane(std::size_t lane) noexcept;

    /// Owner, after a refused lease. Says that it is about to wait. Returns false when blocks have
    /// come back meanwhile: then it must not wait, and nobody will wake it.
    [[nodiscard]] bool set_starved() noexcept;

    /// Consumer, after publishing. True for exactly one caller per set_starved(), who must wake
    /// the owner.
    [[nodiscard]] bool take_starved() noexcept { return starved_.take(); }

    /// Any thread.
    [[nodiscard]] PoolCounters counters() const noexcept { return tallies_.read(); }
    [[nodiscard]] std::size_t payload_bytes() const noexcept { return options_.payload_bytes; }
    [[nodiscard]] std::size_t capacity_blocks() const noexcept { return options_.capacity_blocks; }
    [[nodiscard]] std::size_t lanes() const noexcept { return lanes_.size(); }
    [[nodiscard]] std::size_t bunch_blocks() const noexcept { return options_.bunch_blocks; }

    /// Owner, while no consumer is inside. O(blocks). Checks the law above.
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
    std::vector<Block*> acquired_;  // every block there is, wherever it is
    std::deque<ReturnLane<Block>> lanes_;
    PoolTallies tallies_;
    StarvedFlag<> starved_;
};

}  // namespace strid::memory
