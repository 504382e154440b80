// SPDX-License-Identifier: Apache-2.0
//
// A lock that may be held over a fork: the forking thread takes it before, and it is renewed in the
// child. Its holder may take it again: functions that other libraries have registered with
// pthread_atfork() run while it is held, and may allocate, in the parent and in the child before
// the lock is renewed there. The recursive mutex of the C library does not recognise its holder in
// the child, because the thread has another number; pthread_self() is the same in both.
#pragma once

#include <atomic>
#include <cstddef>

#include <pthread.h>

namespace strid::slab_malloc {

class Lock {
  public:
    void take() noexcept {
        const pthread_t thread = pthread_self();
        // Relaxed: it is equal only to a value that this thread has written.
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
    /// In the child of a fork that the lock's holder made.
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
