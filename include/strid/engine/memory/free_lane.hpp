// SPDX-License-Identifier: Apache-2.0
//
// A lane over which one thread at a time gives freed objects back to the owner of a slab allocator:
// the "queue for each mem-consumer" of paper 1 (4.2.1). It is a bounded ring of addresses, so that
// a free does not touch the object, eight addresses share a line, and the owner can read ahead.
// When the ring is full, an intrusive lane takes the overflow, so giving never fails.
//
// Invariant: head seen by the giver <= head <= tail <= head seen + slots; the objects in slots
// [head, tail) and those in the overflow lane belong to the allocator's owner, in no particular
// order between the two. Only the giver moves tail, only the owner moves head.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <new>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/memory/return_lane.hpp>

namespace strid::memory {

/// `Atomic` is `std::atomic`; tests replace it by a model that explores interleavings.
template <template <class> class Atomic = std::atomic>
class alignas(cache_line_bytes) FreeLane {
  public:
    /// `slots` is rounded up to a power of two.
    explicit FreeLane(std::size_t slots)
        : mask_(std::bit_ceil(slots == 0 ? 1 : slots) - 1),
          slots_(std::make_unique_for_overwrite<void*[]>(mask_ + 1)) {}

    /// Giver. `memory` has room for a pointer.
    void give(void* memory) noexcept {
        const std::size_t tail = tail_.load(std::memory_order_relaxed);
        if (tail - head_seen_ > mask_) [[unlikely]] {
            // Pairs with the release in take_all(): the owner has read the slots it has passed.
            head_seen_ = head_.load(std::memory_order_acquire);
            if (tail - head_seen_ > mask_) {
                overflow_.give(new (memory) Freed{nullptr});
                return;
            }
        }
        slots_[tail & mask_] = memory;
        // Pairs with the acquire in take_all(): publishes the slot, and all the giver did with the
        // object.
        tail_.store(tail + 1, std::memory_order_release);
    }

    /// Owner. Calls `take(void*)` for every object in the lane; returns how many there were.
    template <class Take>
    std::size_t take_all(Take take) noexcept {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        // Pairs with the release in give().
        const std::size_t tail = tail_.load(std::memory_order_acquire);
        for (std::size_t at = head; at != tail; ++at) take(slots_[at & mask_]);
        // Pairs with the acquire in give().
        if (tail != head) head_.store(tail, std::memory_order_release);
        std::size_t taken = tail - head;
        for (Freed* freed = overflow_.take_all(); freed != nullptr; ++taken) {
            Freed* const next = freed->next;
            take(freed);
            freed = next;
        }
        return taken;
    }

    /// As take_all(), but leaves everything in place. Quiescent lanes only.
    template <class Visit>
    void for_each_quiescent(Visit visit) const {
        const std::size_t tail = tail_.load(std::memory_order_acquire);  // as in take_all()
        for (std::size_t at = head_.load(std::memory_order_relaxed); at != tail; ++at) {
            visit(slots_[at & mask_]);
        }
        overflow_.for_each_quiescent(visit);
    }

    /// Quiescent lanes only: the invariant above, and that no slot in use is empty. O(objects).
    [[nodiscard]] bool is_valid() const {
        const std::size_t slots = mask_ + 1;
        const std::size_t tail = tail_.load(std::memory_order_acquire);  // as in take_all()
        const std::size_t head = head_.load(std::memory_order_acquire);  // as in give()
        // Differences, because the positions wrap around.
        if (tail - head_seen_ > slots || tail - head > tail - head_seen_) return false;
        for (std::size_t at = head; at != tail; ++at) {
            if (slots_[at & mask_] == nullptr) return false;
        }
        return overflow_.is_valid();
    }

  private:
    struct Freed {  // lives in the freed object
        Freed* next;
    };

    // Line 0: read-only.
    const std::size_t mask_;
    const std::unique_ptr<void*[]> slots_;
    // Line 1: the giver's; the owner reads the tail when a slab has run out.
    alignas(cache_line_bytes) Atomic<std::size_t> tail_{0};
    std::size_t head_seen_ = 0;
    // Line 2: the owner's; the giver reads it once per round of the ring.
    alignas(cache_line_bytes) Atomic<std::size_t> head_{0};
    // Lines 3 and 4: see ReturnLane. Publishes every object: this path is rare.
    ReturnLane<Freed, Atomic> overflow_{1};
};
static_assert(sizeof(FreeLane<>) == 5 * cache_line_bytes);

}  // namespace strid::memory
