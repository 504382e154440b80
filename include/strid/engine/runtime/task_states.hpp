// SPDX-License-Identifier: Apache-2.0
//
// The states of up to 32 tasks in one atomic word: two bits for each, `pending` (a notification
// that no step has answered) and `claimed` (a thread is inside step(), or the task is over).
//
//     pending claimed
//    pending claimed
//       0       0     idle               no worker runs it until it is notified
//       1       0     ready              the first worker to claim it runs it
//       0       1     running
//       1       1     running, notified  becomes ready when it is released
//    A finished task stays claimed for ever.
//
// There is one word for many tasks: a worker sees with one load which of its tasks are ready, takes
// one with one compare-and-swap, and a notification is one read-modify-write. Any thread may call
// notify, claimable, is_claimed and try_claim; the release functions are for the thread that
// claimed the task.
//
// Invariant: every notify() is followed by a claim whose acquire sees everything before that
// notify(), unless the task finishes. Every change of the word is a read-modify-write, so each
// claim reads from the release sequence of every earlier notify. This is also why notify has no
// shortcut for a task that is already pending: a mere load would publish nothing.
#pragma once

#include <atomic>
#include <cstdint>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/cache_line.hpp>

namespace strid::runtime {

class alignas(cache_line_bytes) TaskStates {
  public:
    static constexpr unsigned capacity = 32;

    /// True when the task was idle: now it is ready, and the caller must make sure that a worker
    /// runs it. This change and the caller's next check of the sleepers are totally ordered with
    /// the accesses of a worker that falls asleep (ParkingLot): one of the two sees the other.
    bool notify(unsigned task) noexcept {
        // Release: pairs with the acquire in try_claim. Sequentially consistent: pairs with
        // claimable() after ParkingLot::announce().
        const std::uint64_t before = word_.fetch_or(pending(task), std::memory_order_seq_cst);
        return (before & (pending(task) | claimed(task))) == 0;
    }

    /// One bit for every task that is ready. Sequentially consistent: pairs with notify().
    [[nodiscard]] std::uint32_t claimable() const noexcept {
        const std::uint64_t word = word_.load(std::memory_order_seq_cst);
        return static_cast<std::uint32_t>(word) & ~static_cast<std::uint32_t>(word >> capacity);
    }

    [[nodiscard]] bool is_claimed(unsigned task) const noexcept {
        return (word_.load(std::memory_order_relaxed) & claimed(task)) != 0;
    }

    /// ready -> running. False when the task is not ready (any more).
    bool try_claim(unsigned task) noexcept {
        std::uint64_t word = word_.load(std::memory_order_relaxed);
        while ((word & (pending(task) | claimed(task))) == pending(task)) {
            // Acquire: pairs with notify() and with the release functions below. Release: carries
            // on the release sequences of the other tasks in the word.
            if (word_.compare_exchange_weak(word, (word & ~pending(task)) | claimed(task),
                                            std::memory_order_acq_rel, std::memory_order_relaxed)) {
                return true;
            }
        }
        return false;
    }

    /// running -> idle, or ready when it was notified meanwhile; true in the latter case.
    bool release_waiting(unsigned task) noexcept {
        // Release: pairs with the acquire in the next try_claim.
        const std::uint64_t before = word_.fetch_and(~claimed(task), std::memory_order_acq_rel);
        STRID_ASSERT((before & claimed(task)) != 0);
        return (before & pending(task)) != 0;
    }

    /// running -> ready.
    void release_ready(unsigned task) noexcept {
        std::uint64_t word = word_.load(std::memory_order_relaxed);
        STRID_ASSERT((word & claimed(task)) != 0);
        // Release: pairs with the acquire in the next try_claim.
        while (!word_.compare_exchange_weak(word, (word | pending(task)) & ~claimed(task),
                                            std::memory_order_acq_rel, std::memory_order_relaxed)) {
        }
    }

  private:
    static constexpr std::uint64_t pending(unsigned task) noexcept {
        return std::uint64_t{1} << task;
    }
    static constexpr std::uint64_t claimed(unsigned task) noexcept {
        return std::uint64_t{1} << (task + capacity);
    }

    std::atomic<std::uint64_t> word_{0};
};

static_assert(sizeof(TaskStates) == cache_line_bytes);

}  // namespace strid::runtime
