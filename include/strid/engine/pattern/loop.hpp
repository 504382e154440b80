// SPDX-License-Identifier: Apache-2.0
//
// The termination of a loop in a pattern (design note 0017). Every task between the loop's entry
// and its exits holds a credit; a node that makes several of one takes the credits for them before
// it hands on the first, and a node that makes none gives the credit back after it is done. So the
// count is 0 only where no task is in the loop: none waits in a lane, and no node works on one. The
// entry then ends the loop, when its own input has ended.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>

#include <strid/engine/base/cache_line.hpp>
#include <strid/runtime/task.hpp>

namespace strid::pattern {

/// The credits of a loop. `Atomic` is for tests.
template <template <class> class Atomic>
class BasicCredits {
  public:
    /// For a task that enters, or for those that a node makes beside the first. By a node that
    /// holds a credit, or by the entry.
    void take(std::int64_t credits) noexcept {
        // Relaxed: what gives the credit back comes after it through a lane.
        credits_.fetch_add(credits, std::memory_order_relaxed);
    }
    /// Of tasks that have left the loop or that nothing came of. True for the last.
    [[nodiscard]] bool give_back(std::int64_t credits) noexcept {
        // Release: pairs with the acquire in over(); all that was done with the tasks is visible.
        return credits_.fetch_sub(credits, std::memory_order_acq_rel) == credits;
    }
    /// Entry, whose own input has ended: no task is in the loop, and none will be.
    [[nodiscard]] bool over() const noexcept {
        return credits_.load(std::memory_order_acquire) == 0;  // pairs with give_back()
    }

  private:
    Atomic<std::int64_t> credits_{0};
};

class alignas(cache_line_bytes) Loop {
  public:
    /// Before the run: the task of the entry, which waits for the last credit.
    void set_entry(runtime::Task& entry) noexcept { entry_ = &entry; }

    void take(std::int64_t credits) noexcept { credits_.take(credits); }
    /// With the last one the entry is notified.
    void give_back(std::int64_t credits) noexcept {
        if (credits_.give_back(credits)) entry_->notify();
    }
    [[nodiscard]] bool over() const noexcept { return credits_.over(); }

  private:
    BasicCredits<std::atomic> credits_;
    runtime::Task* entry_ = nullptr;
};

}  // namespace strid::pattern
