// SPDX-License-Identifier: Apache-2.0
//
// The slabs of a heap: stacks get blocks from them and blocks go back to them, each by its bit.
// Threads: only the thread that has the heap.
#pragma once

#include <cstddef>

#include "heap.hpp"

namespace strid::slab_malloc {

/// Moves free blocks of the class from a slab onto the empty stack, the lowest address on top;
/// false when no slab has any. Costs O(blocks moved).
bool take_from_slabs(Heap& heap, std::size_t class_index) noexcept;
/// Gets a slab from the pool; false: no memory.
bool add_slab(Heap& heap, std::size_t class_index) noexcept;
/// Gives a block of the heap back to its slab; faults if the block is free already, or is no block.
void give_to_slab(Heap& heap, void* memory) noexcept;
/// Gives the empty slabs that the heap has kept to the pool.
void give_back_empty(Heap& heap) noexcept;

}  // namespace strid::slab_malloc
