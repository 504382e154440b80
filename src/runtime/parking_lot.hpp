// SPDX-License-Identifier: Apache-2.0
//
// Where the workers of one pool sleep, and the count of those that are awake and searching.
//
// Owned by the pool. announce, retract and sleep are for the worker whose number is given; the
// others may be called by any thread.
//
// Invariant: a task that becomes ready is never left while a worker that could take it sleeps for
// ever. It follows from one hand-shake, in which both sides first write and then read, all in the
// single total order of sequentially consistent operations:
//
//     the notifying thread:  the task's state  (write);  searching, asleep flags  (read)
//     the worker:            searching - 1, its asleep flag  (write);  all states  (read)
//
// If the notifying thread sees no sleeper to wake, or a searcher, then that worker's write comes
// later in the order and so does its read, which finds the task. For this, `searching` may be less
// than the number of searching workers but never more, and `parked` never less than the asleep
// flags. A worker therefore counts itself parked before it raises its flag, and is counted
// searching after a waker has lowered the flag.
//
// Cache lines: one for the two counts, one for each worker's flag.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <strid/engine/base/cache_line.hpp>

#include "futex.hpp"

namespace strid::runtime {

class ParkingLot {
  public:
    explicit ParkingLot(std::size_t workers)
        : sleepers_(std::make_unique<Sleeper[]>(workers)),
          workers_(workers),
          searchers_max_(std::max<int>(1, static_cast<int>(workers / 2))) {}

    /// A worker without work begins to search. False when enough of them search already: it should
    /// sleep at once.
    bool try_enter_search() noexcept {
        int searching = searching_.load(std::memory_order_relaxed);
        while (searching < searchers_max_) {
            // Sequentially consistent: pairs with searching(), see the invariant.
            if (searching_.compare_exchange_weak(searching, searching + 1,
                                                 std::memory_order_seq_cst)) {
                return true;
            }
        }
        return false;
    }

    void leave_search() noexcept {
        searching_.fetch_sub(1, std::memory_order_seq_cst);  // pairs with searching(), as above
    }

    /// True when some worker is awake and searches: it will check again before it sleeps.
    [[nodiscard]] bool searching() const noexcept {
        return searching_.load(std::memory_order_seq_cst) > 0;  // pairs with leave_search()
    }

    [[nodiscard]] bool any_parked() const noexcept {
        return parked_.load(std::memory_order_seq_cst) > 0;  // pairs with announce()
    }

    /// True when every worker sleeps or is about to. If several fall asleep together, it is true
    /// for the last one to announce().
    [[nodiscard]] bool all_parked() const noexcept {
        return parked_.load(std::memory_order_seq_cst) >= static_cast<int>(workers_);
    }

    /// A guess.
    [[nodiscard]] bool is_parked(std::size_t worker) const noexcept {
        return sleepers_[worker].asleep.load(std::memory_order_relaxed) != 0;
    }

    /// First half of falling asleep: from now on others wake this worker. It must check for work
    /// once more, then call sleep() or retract().
    void announce(std::size_t worker) noexcept {
        parked_.fetch_add(1, std::memory_order_seq_cst);               // pairs with any_parked()
        sleepers_[worker].asleep.store(1, std::memory_order_seq_cst);  // pairs with wake_one()
    }

    /// Takes the announcement back. True when another thread woke this worker meanwhile: then it is
    /// counted as searching.
    bool retract(std::size_t worker) noexcept {
        // Acquire and release: pairs with the exchange in wake_one().
        if (sleepers_[worker].asleep.exchange(0, std::memory_order_acq_rel) == 0) return true;
        parked_.fetch_sub(1, std::memory_order_relaxed);
        return false;
    }

    /// Second half: sleeps until woken or until `until_ns`. Returns as retract() does.
    bool sleep(std::size_t worker, std::int64_t until_ns) noexcept;

    /// Wakes one sleeping worker, `preferred` if it sleeps, else its nearest successor; that
    /// worker counts as searching. False when none sleeps.
    bool wake_one(std::size_t preferred) noexcept;

    void wake_all() noexcept;

  private:
    struct alignas(cache_line_bytes) Sleeper {
        std::atomic<std::uint32_t> asleep{0};
    };
    static_assert(sizeof(Sleeper) == cache_line_bytes);

    bool wake(Sleeper& sleeper) noexcept;

    std::unique_ptr<Sleeper[]> sleepers_;
    std::size_t workers_;
    int searchers_max_;
    alignas(cache_line_bytes) std::atomic<int> parked_{0};
    std::atomic<int> searching_{0};
};

}  // namespace strid::runtime
