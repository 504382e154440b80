// SPDX-License-Identifier: Apache-2.0
#include "thread_heap.hpp"

#include <atomic>

#include <pthread.h>

#include "region_pool.hpp"

namespace strid::slab_malloc {

constinit Heap no_heap;
constinit thread_local Heap* thread_heap = &no_heap;

namespace {

using Place = Residence<>::Place;

constinit Lock heaps_lock;
constinit Heap* all_heaps = nullptr;
constinit Heap* idle_heaps = nullptr;
constinit thread_local bool thread_has_ended = false;
constinit thread_local int endings_seen = 0;
constinit thread_local int frees_without_heap = 0;
constinit std::atomic<bool> key_made{false};
pthread_key_t key;

// A thread that only ends has freed the memory it was started with, and needs no heap for that.
constexpr int frees_without_heap_max = 8;

// Other libraries clean up in the same rounds at the end of a thread: the heap goes in the third of
// four, when most of that is done.
constexpr int ending_that_counts = 3;

void thread_ends(void*) {
    if (++endings_seen < ending_that_counts && pthread_setspecific(key, &key) == 0) return;
    thread_has_ended = true;
    leave_heap();
}

// Under the lock.
Heap* take_heap() noexcept {
    Heap* heap = idle_heaps;
    if (heap != nullptr) {
        idle_heaps = heap->next_idle;
        heap->residence.set(Place::with_thread);
        return heap;
    }
    heap = new_heap();
    if (heap == nullptr) return nullptr;
    heap->next = all_heaps;
    all_heaps = heap;
    return heap;
}

// Under the lock. This thread takes what was given until now; later the giver does.
void make_idle(Heap& heap) noexcept {
    heap.residence.set(Place::idle);
    settle(heap);
    heap.next_idle = idle_heaps;
    idle_heaps = &heap;
}

}  // namespace

void* allocate_without_heap(std::size_t class_index) noexcept {
    const Locked locked(heaps_lock);
    Heap* const heap = take_heap();
    if (heap == nullptr) return nullptr;
    if (thread_has_ended) {
        void* const memory = allocate_small(*heap, class_index);
        make_idle(*heap);
        return memory;
    }
    thread_heap = heap;
    // Pairs with the release in watch_threads().
    if (key_made.load(std::memory_order_acquire)) pthread_setspecific(key, &key);
    return allocate_small(*heap, class_index);
}

bool free_needs_heap() noexcept {
    return !thread_has_ended && ++frees_without_heap > frees_without_heap_max;
}

void collect_idle(Heap& heap) noexcept {
    const Locked locked(heaps_lock);
    if (!heap.residence.is_idle()) return;
    settle(heap);
}

void settle_all() noexcept {
    if (thread_heap != &no_heap) settle(*thread_heap);
    const Locked locked(heaps_lock);
    for (Heap* heap = idle_heaps; heap != nullptr; heap = heap->next_idle) settle(*heap);
}

void leave_heap() noexcept {
    Heap* const heap = thread_heap;
    if (heap == &no_heap) return;
    send_all(*heap);
    thread_heap = &no_heap;
    const Locked locked(heaps_lock);
    make_idle(*heap);
}

void before_fork() noexcept {
    heaps_lock.take();
    region_pool.lock().take();
}

void after_fork_in_parent() noexcept {
    region_pool.lock().release();
    heaps_lock.release();
}

void after_fork_in_child() noexcept {
    region_pool.lock().renew();
    heaps_lock.renew();
    for (Heap* heap = all_heaps; heap != nullptr; heap = heap->next) {
        if (heap != thread_heap && !heap->residence.is_idle()) heap->residence.set(Place::lost);
    }
}

void watch_threads() noexcept {
    if (pthread_key_create(&key, thread_ends) == 0) {
        // Pairs with the acquire in allocate_without_heap().
        key_made.store(true, std::memory_order_release);
        if (thread_heap != &no_heap) pthread_setspecific(key, &key);
    }
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

}  // namespace strid::slab_malloc
