// SPDX-License-Identifier: Apache-2.0
//
// Counters that one thread writes and any thread reads: plain stores and loads, each on its own.
#pragma once

#include <atomic>
#include <cstdint>

namespace strid::operators {

/// A count written by one thread and read by any: no read-modify-write, a plain store.
class SharedCount {
  public:
    void add(std::uint64_t n) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    void set(std::uint64_t n) noexcept { value_.store(n, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t get() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

  private:
    std::atomic<std::uint64_t> value_{0};
};

/// The same for a sum that may be larger than a whole number of 64 bits.
class SharedSum {
  public:
    void add(double x) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + x, std::memory_order_relaxed);
    }
    [[nodiscard]] double get() const noexcept { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<double> value_{0};
};

}  // namespace strid::operators
