// SPDX-License-Identifier: Apache-2.0
//
// The sleep of threads that wait for another thread's work on a queue, and their waking.
//
// Threads: any. Owner: the queue; no thread may be inside when it goes.
//
// Invariant: the word counts up; it is odd while a thread may sleep. wait() makes it odd and then
// looks once more; ring() comes after the work and reads the word. Both do it by a
// read-modify-write, so one of the two is second: a ring() that is second sees the odd word and
// wakes; a wait() that is second has acquired the work and finds it. A woken word is never the one
// that a thread sleeps on.
#pragma once

#include <atomic>
#include <cstdint>

#include <strid/engine/base/cache_line.hpp>

namespace strid::channel {

/// `Atomic` is `std::atomic`; tests replace it by a model that explores interleavings.
template <template <class> class Atomic = std::atomic>
class alignas(cache_line_bytes) Doorbell {
  public:
    /// After the work that others may wait for. One read-modify-write when no thread sleeps.
    void ring() noexcept {
        // acq_rel: pairs with the one in wait(), see above.
        std::uint32_t word = word_.fetch_add(0, std::memory_order_acq_rel);
        // One that fails has found a word that another thread has made even since.
        if (word % 2 == 1 &&
            word_.compare_exchange_strong(word, word + 1, std::memory_order_relaxed)) {
            word_.notify_all();
        }
    }

    /// Sleeps until a ring() after the call, unless `look()`, which is called once, finds the work.
    template <class Look>
    void wait(Look look) {
        // acq_rel: pairs with the one in ring(), see above.
        const std::uint32_t word = word_.fetch_or(1, std::memory_order_acq_rel) | 1;
        if (!look()) word_.wait(word, std::memory_order_relaxed);
    }

  private:
    Atomic<std::uint32_t> word_{0};
};

}  // namespace strid::channel
