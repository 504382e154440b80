// SPDX-License-Identifier: Apache-2.0
//
// The time that a consumer takes for a record, which its producer reads to choose how many records
// a batch gets (design note 0003).
//
// Threads: the consumer's task adds; the producer's task reads, maybe an older value. Invariant:
// the value shown is within a quarter of the mean when add() returns.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <strid/engine/base/cache_line.hpp>

namespace strid::operators {

class RecordCost {
  public:
    /// Some records took this long, in nanoseconds. No atomic write unless the mean has changed by
    /// a quarter.
    void add(std::int64_t work_ns, std::uint64_t records) noexcept {
        work_ns_ += static_cast<double>(work_ns);
        records_ += static_cast<double>(records);
        const auto mean = static_cast<float>(std::max(work_ns_ / records_, 1.0));
        if (work_ns_ > remembered_ns) {
            work_ns_ /= 2;
            records_ /= 2;
        }
        const float shown = shown_.load(std::memory_order_relaxed);
        if (mean * 4 > shown * 5 || mean * 5 < shown * 4) {
            shown_.store(mean, std::memory_order_relaxed);
        }
    }
    /// Nanoseconds per record; 0 before the first.
    [[nodiscard]] float mean_ns() const noexcept { return shown_.load(std::memory_order_relaxed); }

  private:
    /// The mean is over about this much work: calls of which few are slow do not look cheap
    /// between two slow ones, and a thread that was interrupted once does not look slow for long.
    static constexpr double remembered_ns = 100e6;

    double work_ns_ = 0;
    double records_ = 0;
    // A line of its own: the one above is written for each batch.
    alignas(cache_line_bytes) std::atomic<float> shown_{0};
};
static_assert(sizeof(RecordCost) == 2 * cache_line_bytes);

}  // namespace strid::operators
