// SPDX-License-Identifier: Apache-2.0
//
// The way back from the end of a loop to its entry: never full, so that no circle of full lanes can
// wait for itself (design note 0017), and counted, so that reports show how many tasks wait in it.
//
// Threads: try_push for the one that steps the last node, try_pop for the one that steps the entry,
// the counts for any.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/channel/unbounded_spsc.hpp>
#include <strid/pattern/description.hpp>

namespace strid::pattern {

template <class T>
class BackLane {
  public:
    /// Producer. Throws std::bad_alloc where there is no memory; the lane is then as before.
    void push(T&& task) {
        (void)queue_.try_push(std::move(task));
        add_one(pushed_);
    }
    /// Consumer: the oldest task; false where none waits.
    [[nodiscard]] bool try_pop(T& task) noexcept {
        if (queue_.try_pop(task) != channel::PopResult::ok) return false;
        add_one(popped_);
        return true;
    }
    /// Any thread: each is exact at some recent moment.
    [[nodiscard]] LaneCounts counts() const noexcept {
        const std::uint64_t popped = popped_.load(std::memory_order_relaxed);
        const std::uint64_t pushed = pushed_.load(std::memory_order_relaxed);
        return {.tasks = pushed, .waiting = pushed > popped ? pushed - popped : 0};
    }

  private:
    static void add_one(std::atomic<std::uint64_t>& count) noexcept {
        count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    channel::UnboundedSpsc<T> queue_;
    alignas(cache_line_bytes) std::atomic<std::uint64_t> pushed_{0};  // the producer's
    alignas(cache_line_bytes) std::atomic<std::uint64_t> popped_{0};  // the consumer's
};

}  // namespace strid::pattern
