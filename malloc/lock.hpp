// SPDX-License-Identifier: Apache-2.0
//
// A lock that may be held over a fork: the thread that forks takes it before, and it is new in the
// child. The thread that holds it may take it again, because functions that other libraries have
// registered with pthread_atfork() run while it is held, and may allocate.
#pragma once

#include <pthread.h>

namespace strid::slab_malloc {

class Lock {
  public:
    void take() noexcept { pthread_mutex_lock(&mutex_); }
    void release() noexcept { pthread_mutex_unlock(&mutex_); }
    /// In the child of a fork, whose parent held it.
    void renew() noexcept { mutex_ = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; }

  private:
    pthread_mutex_t mutex_ = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
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
