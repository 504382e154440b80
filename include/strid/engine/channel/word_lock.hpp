// SPDX-License-Identifier: Apache-2.0
//
// A lock of one word, for the rare steps of a queue: std::mutex, with atomics that a test can
// model.
//
// Threads: any. Invariant: the word is 0 when free, 1 when taken, 2 when others may sleep on it.
#pragma once

#include <atomic>
#include <cstdint>

namespace strid::channel {

/// For std::lock_guard. `Atomic` is `std::atomic`; tests replace it by a model.
template <template <class> class Atomic = std::atomic>
class WordLock {
  public:
    void lock() noexcept {
        std::uint32_t word = 0;
        // acquire, here and below: pairs with the release in unlock().
        if (word_.compare_exchange_strong(word, 1, std::memory_order_acquire)) return;
        while (word_.exchange(2, std::memory_order_acquire) != 0) {
            word_.wait(2, std::memory_order_relaxed);
        }
    }
    void unlock() noexcept {
        // release: pairs with the acquire in lock().
        if (word_.exchange(0, std::memory_order_release) == 2) word_.notify_all();
    }

  private:
    Atomic<std::uint32_t> word_{0};
};

}  // namespace strid::channel
