// SPDX-License-Identifier: Apache-2.0
//
// A lock that may be held over a fork: the thread that forks takes it before, and it is new in the
// child. The thread that holds it may take it again, because functions that other libraries have
// registered with pthread_atfork() run while it is held, and may allocate, in the parent and in the
// child before the lock is new there. The recursive mutex of the C library does not know its holder
// in the child, whose thread has another number; pthread_self() is the same in both.
#pragma once

#include <atomic>
#include <cstddef>

#include <pthread.h>

namespace strid::slab_malloc {

class Lock {
  public:
    void take() noexcept {
        const pthread_t thread = pthread_self();
        // Relaxed: only what this thread has written itself is equal to it.
        if (holder_.load(std::memory_order_relaxed) == thread) {
            ++times_again_;
            return;
        }
        pthread_mutex_lock(&mutex_);
        holder_.store(thread, std::memory_order_relaxed);
    }
    void release() noexcept {
        if (times_again_ != 0) {
            --times_again_;
            return;
        }
        holder_.store(0, std::memory_order_relaxed);
        pthread_mutex_unlock(&mutex_);
    }
    /// In the child of a fork, whose parent held it.
    void renew() noexcept {
        mutex_ = PTHREAD_MUTEX_INITIALIZER;
        holder_.store(0, std::memory_order_relaxed);
        times_again_ = 0;
    }

  private:
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    std::atomic<pthread_t> holder_{0};
    std::size_t times_again_ = 0;  // the holder's
};

class Locked {
  public:
    explicit Locked(Lock& lock) noexcept : lock_(lock) { lock_.take(); }
    ~Locked() { lock_.release(); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

  private:
    Lock& lock_;
};

}  // namespace strid::slab_malloc
