// SPDX-License-Identifier: Apache-2.0
//
// The counters that every allocator of this room keeps. A `Tally` has one writing thread (the owner
// of the allocator) and any number of reading threads: metrics read a running graph from outside.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace strid::memory {

/// A reading of an allocator's counters. Counts are of pieces (blocks, chunks) since construction.
struct PoolCounters {
    std::uint64_t leased = 0;      ///< handed out
    std::uint64_t returned = 0;    ///< come back, as far as the owner has collected them
    std::uint64_t high_water = 0;  ///< most pieces out at one time, as the owner saw it
    std::uint64_t misses = 0;      ///< requests that found nothing ready: refused, or passed on
    std::uint64_t debt = 0;        ///< leases beyond the capacity

    /// Pieces that are out now.
    [[nodiscard]] std::uint64_t out() const noexcept { return leased - returned; }
    bool operator==(const PoolCounters&) const = default;
};

/// A count with one writer. Relaxed: it orders nothing, and is read for information only.
class Tally {
  public:
    /// By the one writer.
    void add(std::uint64_t amount = 1) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
    /// The greater of the count and `least`. By the one writer.
    void raise_to(std::uint64_t least) noexcept {
        if (value_.load(std::memory_order_relaxed) < least) {
            value_.store(least, std::memory_order_relaxed);
        }
    }
    /// Any thread; exact at some recent moment.
    [[nodiscard]] std::uint64_t value() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

  private:
    std::atomic<std::uint64_t> value_{0};
};

/// The five counts of an allocator, written by its owner, read by any thread.
class PoolTallies {
  public:
    Tally leased;  ///< Pieces handed out.
    Tally misses;  ///< Requests that found nothing ready.
    Tally debt;    ///< Leases beyond the capacity.

    /// Pieces have come back. By the one writer. The number of pieces out falls only here, so its
    /// peak is recorded first.
    void count_returned(std::uint64_t amount = 1) noexcept {
        high_water_.raise_to(leased.value() - returned_.value());
        returned_.add(amount);
    }
    /// Pieces that are out now, as far as the owner has collected them.
    [[nodiscard]] std::uint64_t out() const noexcept { return leased.value() - returned_.value(); }

    /// Any thread. Exact for the owner; for other threads each count was true recently.
    [[nodiscard]] PoolCounters read() const noexcept {
        PoolCounters counters;
        counters.returned = returned_.value();
        // Read later, mostly it is no less; relaxed reads may also come in the other order.
        counters.leased = std::max(leased.value(), counters.returned);
        counters.high_water = std::max(high_water_.value(), counters.out());
        counters.misses = misses.value();
        counters.debt = debt.value();
        return counters;
    }

  private:
    Tally returned_;
    Tally high_water_;
};

}  // namespace strid::memory
