// SPDX-License-Identifier: Apache-2.0
//
// Which thread has which heap. A thread gets one with its first allocation: one that another thread
// has left, with all that is in it, or a new one. A thread that ends leaves its heap idle, and what
// is freed into an idle heap is taken home by the freeing thread, under the lock of the heaps. The
// child of a fork keeps the heap of the thread that forked; the other threads' heaps, which may
// have been half written, are lost to it: their blocks can be used and freed there, but their free
// memory is not used again.
//
// A thread allocates after its heap is gone, too, when other libraries clean up: it then borrows an
// idle heap for the one allocation.
#pragma once

#include <cstddef>

#include "heap.hpp"

namespace strid::slab_malloc {

/// What a thread has before its first allocation, and after its end.
extern constinit Heap no_heap;

/// The heap of this thread, or `no_heap`.
extern constinit thread_local Heap* thread_heap;

/// As allocate_small(), in a thread that has no heap yet, or no longer.
[[nodiscard]] void* allocate_without_heap(std::size_t class_index) noexcept;

/// Whether a thread without a heap frees so much that it should have one, which
/// allocate_without_heap() gives it.
[[nodiscard]] bool free_needs_heap() noexcept;

/// Takes home what lies in the lane of `heap`, if it is still idle. Any thread.
void collect_idle(Heap& heap) noexcept;

/// As settle(), for this thread's heap and for idle ones.
void settle_all() noexcept;

/// This thread's heap goes idle, as when the thread ends.
void leave_heap() noexcept;

/// Before a fork, and after it in both processes.
void before_fork() noexcept;
void after_fork_in_parent() noexcept;
void after_fork_in_child() noexcept;

/// Sees to it that the functions above are called when threads end and processes fork. Once.
void watch_threads() noexcept;

}  // namespace strid::slab_malloc
