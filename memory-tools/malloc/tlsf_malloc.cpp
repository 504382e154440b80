// SPDX-License-Identifier: Apache-2.0
//
// libstrid_tlsf.so: every request of a process is served from one TLSF arena (memory/tlsf.hpp)
// behind one lock, the form in which paper 3 (II.G) studies TLSF. The arena grows by regions of 4
// MiB. A request of more than half of one has a mapping of its own, which is resized without
// copying and goes back to the system when it is freed.
//
// Threads: any. The lock is left out while the process has one thread. Around fork() the forking
// thread holds it, so that the child finds the arena whole; fork handlers of other libraries in
// that thread pass it.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>

#include <pthread.h>
#include <sys/single_threaded.h>

#include <strid/memory/tlsf.hpp>

namespace {

using strid::memory::Tlsf;

constexpr std::size_t growth_bytes = std::size_t{4} << 20;
constexpr std::size_t spare_regions_max = 4;

// It spins before it waits: the guarded code takes some 50 ns.
pthread_mutex_t mutex = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

// Never destroyed: destructors and exit handlers of the program free after any of this library's.
alignas(Tlsf) unsigned char arena_memory[sizeof(Tlsf)];
bool arena_is_there = false;

// The forking thread, while it holds the lock for that; 0 otherwise. Relaxed: it is equal only to a
// value that this thread has written.
std::atomic<pthread_t> forking{0};

bool this_thread_forks() noexcept {
    const pthread_t thread = forking.load(std::memory_order_relaxed);
    return thread != 0 && thread == pthread_self();
}

/// The arena, for one thread at a time. Created by the first request, which comes before any
/// initialiser of this library has run.
class LockedArena {
  public:
    LockedArena() noexcept : locked_(__libc_single_threaded == 0 && !this_thread_forks()) {
        if (locked_) pthread_mutex_lock(&mutex);
        if (!arena_is_there) [[unlikely]] {
            ::new (arena_memory)
                Tlsf({.growth_bytes = growth_bytes, .spare_regions_max = spare_regions_max},
                     std::nothrow);
            arena_is_there = true;
        }
    }
    ~LockedArena() {
        if (locked_) pthread_mutex_unlock(&mutex);
    }
    LockedArena(const LockedArena&) = delete;
    LockedArena& operator=(const LockedArena&) = delete;

    Tlsf* operator->() const noexcept {
        return std::launder(reinterpret_cast<Tlsf*>(arena_memory));
    }

  private:
    bool locked_;  // a thread may begin between: only what was locked is unlocked
};

void lock_before_fork() {
    pthread_mutex_lock(&mutex);
    forking.store(pthread_self(), std::memory_order_relaxed);
}
void unlock_after_fork() {
    forking.store(0, std::memory_order_relaxed);
    pthread_mutex_unlock(&mutex);
}

[[gnu::constructor]] void watch_forks() {
    pthread_atfork(lock_before_fork, unlock_after_fork, unlock_after_fork);
}

}  // namespace

namespace strid::preload {

struct Allocator {
    static void* allocate(std::size_t bytes) noexcept {
        return or_error(LockedArena()->try_allocate(bytes));
    }
    static void* allocate_zeroed(std::size_t bytes) noexcept {
        return or_error(LockedArena()->try_allocate_zeroed(bytes));
    }
    static void* allocate_aligned(std::size_t bytes, std::size_t alignment) noexcept {
        return or_error(LockedArena()->try_allocate(bytes, alignment));
    }
    static void* reallocate(void* memory, std::size_t bytes) noexcept {
        return or_error(LockedArena()->try_reallocate(memory, bytes));
    }
    static void release(void* memory) noexcept {
        const int errno_before = errno;
        LockedArena()->deallocate(memory);
        errno = errno_before;
    }
    static std::size_t usable_bytes(const void* memory) noexcept {
        return Tlsf::usable_bytes(memory);
    }
    static bool trim(std::size_t) noexcept { return LockedArena()->trim() != 0; }

  private:
    static void* or_error(void* memory) noexcept {
        if (memory == nullptr) [[unlikely]]
            errno = ENOMEM;
        return memory;
    }
};

}  // namespace strid::preload

#include "entry_points.hpp"
