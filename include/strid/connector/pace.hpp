// SPDX-License-Identifier: Apache-2.0
//
// The timetable of an open-loop source: when each record is due, whatever became of those before.
// A record that is late keeps its due time, so that latency counts the wait (no coordinated
// omission). Value type; one thread at a time. Also here: a fraction that other threads may read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <strid/base/error.hpp>

namespace strid {

/// Record `i` of this replica is due at start + (i * parallelism + replica) / rate.
class Pace {
  public:
    /// 0: as fast as it goes. Throws GraphError for a rate below 0 or not finite.
    explicit Pace(double rate_per_second = 0) : rate_per_second_(rate_per_second) {
        constexpr double rate_max = std::numeric_limits<double>::max();
        if (!(rate_per_second >= 0 && rate_per_second <= rate_max)) {  // nor is it a NaN
            throw GraphError("a rate per second must be finite and not below 0");
        }
    }

    /// Replica `replica` of `parallelism` begins now; its records are due in turn with those of
    /// others.
    void start(std::int64_t now_ns, std::size_t replica, std::size_t parallelism) noexcept {
        if (!limited()) return;
        const double period_ns = 1e9 / rate_per_second_;
        step_ns_ = period_ns * static_cast<double>(parallelism);
        offset_ns_ = period_ns * static_cast<double>(replica);
        start_ns_ = now_ns;
    }
    /// Whether there is a rate to keep.
    [[nodiscard]] bool limited() const noexcept { return rate_per_second_ > 0; }
    /// When record `index` of the replica is due, by the monotonic clock.
    [[nodiscard]] std::int64_t due_ns(std::uint64_t index) const noexcept {
        return start_ns_ +
               static_cast<std::int64_t>(static_cast<double>(index) * step_ns_ + offset_ns_);
    }

  private:
    double rate_per_second_;
    double step_ns_ = 0;
    double offset_ns_ = 0;
    std::int64_t start_ns_ = 0;
};

/// A fraction between 0 and 1, or -1 for unknown, that one thread stores and any thread loads;
/// copies as a value.
class SharedFraction {
  public:
    SharedFraction() = default;
    /// A copy of the value as it is.
    SharedFraction(const SharedFraction& other) noexcept : value_(other.load()) {}
    SharedFraction& operator=(const SharedFraction& other) noexcept {
        store(other.load());
        return *this;
    }
    /// By the replica's thread.
    void store(double value) noexcept { value_.store(value, std::memory_order_relaxed); }
    /// Any thread.
    [[nodiscard]] double load() const noexcept { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<double> value_{0};
};

}  // namespace strid
