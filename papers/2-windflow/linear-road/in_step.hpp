// SPDX-License-Identifier: Apache-2.0
//
// Keeps the replicas of a source together in the input's time. The records of a replica that is
// ahead wait at `accounts` for the slowest, and roads are not equally full, so that their number
// would grow without a bound.
//
// Threads: the replicas share it; each writes its own place. Relaxed: only the places themselves
// are published.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

namespace strid::apps::linear_road {

class InStep {
  public:
    /// A replica begins, before its first go_to(). One that has no events is not waited for.
    void begin(std::size_t replica, std::size_t replicas, bool has_events) {
        const std::lock_guard lock{beginning_};
        if (seconds_.size() != replicas)
            seconds_ = std::vector<std::atomic<std::int64_t>>(replicas);
        seconds_[replica].store(0, std::memory_order_relaxed);
        if (!has_events) finish(replica);
    }
    /// A replica goes on at that time. False: it is so far ahead that it has to wait. O(replicas).
    [[nodiscard]] bool go_to(std::size_t replica, std::int64_t second) noexcept {
        seconds_[replica].store(second, std::memory_order_relaxed);
        for (const auto& other : seconds_) {
            if (other.load(std::memory_order_relaxed) < second - lead_max) return false;
        }
        return true;
    }
    /// A replica has no events any more: it is not waited for.
    void finish(std::size_t replica) noexcept {
        seconds_[replica].store(std::numeric_limits<std::int64_t>::max(),
                                std::memory_order_relaxed);
    }

  private:
    static constexpr std::int64_t lead_max = 1'800;  // seconds of the input

    std::mutex beginning_;
    std::vector<std::atomic<std::int64_t>> seconds_;  // by replica
};

}  // namespace strid::apps::linear_road
