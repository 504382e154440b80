// SPDX-License-Identifier: Apache-2.0
//
// The heaps of threads. A thread gets a heap with its first allocation: one that an ended thread
// has left, with its contents, or a new one. A thread that ends leaves its heap idle. A thread that
// frees a block of an idle heap takes it home itself, under the lock of the heaps. The child of a
// fork keeps the heap of the thread that forked. The heaps of the other threads may have been half
// written, and are lost: their blocks can be used and freed in the child, but their free memory is
// not used again.
//
// A thread may allocate after its heap is gone, when other libraries clean up: it then borrows an
// idle heap for the one allocation.
#pragma once

#include <cstddef>

#include "heap.hpp"

namespace strid::slab_malloc {

/// The heap of a thread before its first allocation, and after its end.
extern constinit Heap no_heap;

/// The heap of this thread, or `no_heap`.
extern constinit thread_local Heap* thread_heap;

/// As allocate_small(), in a thread that has no heap yet, or no longer.
[[nodiscard]] void* allocate_without_heap(std::size_t class_index) noexcept;

/// Whether a thread without a heap frees so much that it should have one; allocate_without_heap()
/// then gives it one.
[[nodiscard]] bool free_needs_heap() noexcept;

/// Takes home the blocks in the lane of `heap`, if it is still idle. Any thread.
void collect_idle(Heap& heap) noexcept;

/// As settle(), for this thread's heap and for idle ones.
void settle_all() noexcept;

/// Makes this thread's heap idle, as at the end of the thread.
void leave_heap() noexcept;

/// Before a fork, and after it in both processes.
void before_fork() noexcept;
void after_fork_in_parent() noexcept;
void after_fork_in_child() noexcept;

/// Makes sure that the functions above are called when threads end and processes fork. Once.
void watch_threads() noexcept;

}  // namespace strid::slab_malloc
