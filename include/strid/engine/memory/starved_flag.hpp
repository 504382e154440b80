// SPDX-License-Identifier: Apache-2.0
//
// The hand-shake by which the owner of a pool goes to sleep without missing memory that comes back.
// The owner sets the flag and then checks its lanes once more; a consumer publishes to its lane and
// then checks the flag. All four accesses are sequentially consistent, so at least one side sees
// the other: the owner finds the memory, or the consumer finds the flag.
//
// Invariant: after set() returned true, exactly one take() returns true, at the latest the first
// one after a publication.
//
// Threads: set() is the owner's, take() any consumer's.
#pragma once

#include <atomic>

#include <strid/engine/base/cache_line.hpp>

namespace strid::memory {

/// `Atomic` is `std::atomic`; tests replace it by a model that explores interleavings.
template <template <class> class Atomic = std::atomic>
class alignas(cache_line_bytes) StarvedFlag {
  public:
    /// Owner. `collect` takes the published memory out of the lanes and returns whether there was
    /// any. Returns true when the owner may wait: a consumer will take() the flag and wake it.
    template <class Collect>
    [[nodiscard]] bool set(Collect collect) noexcept {
        // Pairs with take(), see above.
        starved_.store(true, std::memory_order_seq_cst);
        if (!collect()) return true;
        // Relaxed: at worst a consumer takes it just before and wakes the owner without need.
        starved_.store(false, std::memory_order_relaxed);
        return false;
    }

    /// Consumer, after publishing. True for the one caller that must wake the owner.
    [[nodiscard]] bool take() noexcept {
        // Both pair with set(); the exchange makes exactly one consumer responsible.
        return starved_.load(std::memory_order_seq_cst) &&
               starved_.exchange(false, std::memory_order_seq_cst);
    }

    /// Any thread: a hint.
    [[nodiscard]] bool is_set() const noexcept { return starved_.load(std::memory_order_relaxed); }

  private:
    // A separate line: written when the owner starves and by the consumer that wakes it, read by
    // all.
    Atomic<bool> starved_{false};
};

}  // namespace strid::memory
