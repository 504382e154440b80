// SPDX-License-Identifier: Apache-2.0
//
// How the owner of a pool goes to sleep without missing the memory that comes back. The owner says
// that it starves and then looks into its lanes once more; a consumer publishes to its lane and
// then looks at the flag. All four accesses are sequentially consistent, so at least one of the two
// sees the other: either the owner finds the memory or the consumer finds the flag.
//
// Law: after set() returned true, exactly one take() returns true, at the latest the first
// one that comes after a publication.
// Threads: set() is the owner's, take() any consumer's.
#pragma once

#include <atomic>

#include <strid/base/cache_line.hpp>

namespace strid::memory {

/// `Atomic` is `std::atomic`; a test puts a model in its place that explores interleavings.
template <template <class> class Atomic = std::atomic>
class alignas(cache_line_bytes) StarvedFlag {
  public:
    /// Owner. `collect` brings home what is published in the lanes and says whether there was
    /// anything. Returns true when the owner may wait: somebody will take() the flag and wake it.
    template <class Collect>
    [[nodiscard]] bool set(Collect collect) noexcept {
        // Pairs with take(), see above.
        starved_.store(true, std::memory_order_seq_cst);
        if (!collect()) return true;
        // Relaxed: at worst a consumer takes it just before and wakes the owner for nothing.
        starved_.store(false, std::memory_order_relaxed);
        return false;
    }

    /// Consumer, after publishing. True for the one who must wake the owner.
    [[nodiscard]] bool take() noexcept {
        // Both pair with set(); the exchange makes exactly one consumer responsible.
        return starved_.load(std::memory_order_seq_cst) &&
               starved_.exchange(false, std::memory_order_seq_cst);
    }

    /// Any thread: a hint.
    [[nodiscard]] bool is_set() const noexcept { return starved_.load(std::memory_order_relaxed); }

  private:
    // A line of its own: written when the owner starves and by who wakes it, read by all consumers.
    Atomic<bool> starved_{false};
};

}  // namespace strid::memory
