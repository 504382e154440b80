// SPDX-License-Identifier: Apache-2.0
//
// The heap of a thread: slabs of each size class, and for each class a stack of free blocks at
// hand, as addresses. Neither an allocation nor a free touches the block itself, so that a block
// that another core has written last is fetched by the program's own first store, which waits for
// nothing, and not by a link of the allocator in it, which the next allocation would wait for.
//
// A block that another thread frees travels home as an address, too: the freeing thread gathers up
// to 62 of a heap in a bunch, which is a block of its own heap, and puts the bunch into the heap's
// lane by one atomic operation. What it holds back is bounded: 62 blocks or 32 KiB for each of 8
// heaps; a bunch leaves also when the freeing thread needs a slab, trims or ends.
//
// Law: of a slab, in_use + the set bits = block_count. A block without its bit set is in use by the
// program, in a stack of the owner, in a bunch, or in the owner's lane. A slab is in its class's
// list exactly when it has a set bit, or is empty and kept.
//
// Threads: everything but `lane`, `singles` and `residence` is the thread's that has the heap, or
// under the lock of the heaps while the heap is idle.
#pragma once

#include <cstddef>
#include <cstdint>

#include "classes.hpp"
#include "layout.hpp"
#include "shared_lane.hpp"

namespace strid::slab_malloc {

/// Freed blocks of one heap on their way home.
struct Bunch {
    static constexpr std::size_t blocks_max = 62;
    static constexpr std::size_t blocks_min = 8;  // fewer go without one
    Bunch* next = nullptr;
    std::size_t count = 0;
    void* blocks[blocks_max];
};
static_assert(sizeof(Bunch) == 512);

/// A freed block on its way home with its link in itself: where there are few, or is no bunch.
struct Single {
    Single* next;
};

struct Heap {
    /// The free blocks at hand, from base + 1 to top; *base is null, so that a stack is empty when
    /// the entry at its top is null. `limit` is the last entry.
    struct Stack {
        void** top;
        void** limit;
    };
    struct Outgoing {
        Heap* to = nullptr;
        Bunch* bunch = nullptr;
        std::int64_t bytes_left = 0;
    };
    struct Class {
        Slab* first = nullptr;  // slabs with free bits; blocks are taken from the first
        Slab* last = nullptr;
        std::size_t kept_empty = 0;
    };
    static constexpr std::size_t outgoing_count = 8;
    static constexpr std::int64_t outgoing_bytes_max = 32 << 10;

    Stack stacks[class_count];
    Outgoing outgoing[outgoing_count];
    Class classes[class_count];
    void** bases[class_count];
    Heap* next = nullptr;       // of all heaps
    Heap* next_idle = nullptr;  // of idle ones

    // What other threads write.
    alignas(cache_line_bytes) SharedLane<Bunch> lane;
    SharedLane<Single> singles;
    Residence<> residence;

    /// A heap without memory, as threads have that have not allocated yet: every stack is empty.
    constexpr Heap() noexcept;
};

namespace detail {
inline constinit void* no_block = nullptr;  // the only entry of a stack without entries
}

constexpr Heap::Heap() noexcept : stacks{}, bases{} {
    for (Stack& stack : stacks) stack = {&detail::no_block, &detail::no_block};
}

/// A free block of the class that is at hand, or null.
inline void* pop(Heap& heap, std::size_t class_index) noexcept {
    Heap::Stack& stack = heap.stacks[class_index];
    void** const top = stack.top;
    void* const memory = *top;
    if (memory == nullptr) [[unlikely]]
        return nullptr;
    stack.top = top - 1;
    return memory;
}

/// Gets blocks of the class and returns one; null: no memory.
[[nodiscard]] void* allocate_after_refill(Heap& heap, std::size_t class_index) noexcept;

/// The class for `bytes` <= small_bytes_max.
[[nodiscard]] inline void* allocate_small(Heap& heap, std::size_t class_index) noexcept {
    void* const memory = pop(heap, class_index);
    return memory != nullptr ? memory : allocate_after_refill(heap, class_index);
}

/// Makes room in a full stack and puts `memory` on it.
void push_after_flush(Heap& heap, std::size_t class_index, void* memory) noexcept;
[[noreturn, gnu::cold]] void freed_twice(const void* memory) noexcept;
/// A block that is none of the heap's slabs'.
void release_elsewhere(Heap& heap, void* memory) noexcept;

/// The thread that has `heap`. `memory` is not null.
inline void release(Heap& heap, void* memory) noexcept {
    const Tag& tag = tag_of(memory);
    if (tag.owner != &heap) [[unlikely]]
        return release_elsewhere(heap, memory);
    Heap::Stack& stack = heap.stacks[tag.class_index];
    void** const top = stack.top;
    // What was freed just before; other blocks freed twice show when they go back to their slab.
    if (*top == memory) [[unlikely]]
        freed_twice(memory);
    if (top == stack.limit) [[unlikely]]
        return push_after_flush(heap, tag.class_index, memory);
    top[1] = memory;
    stack.top = top + 1;
}

/// Takes home what other threads freed.
void collect(Heap& heap) noexcept;
/// Puts every bunch on its way.
void send_all(Heap& heap) noexcept;
/// As both, and gives every block at hand back to its slab, and every empty slab to the pool.
void settle(Heap& heap) noexcept;

/// Visits every slab in a list of the heap and checks the law for it; for tests. The thread that
/// has the heap.
[[nodiscard]] bool is_valid(const Heap& heap) noexcept;

/// Bytes of the block at `memory`, of any kind; faults where there is none.
[[nodiscard]] std::size_t block_bytes(const void* memory) noexcept;

/// The heap's own memory and its stacks; null: no memory.
[[nodiscard]] Heap* new_heap() noexcept;

}  // namespace strid::slab_malloc
