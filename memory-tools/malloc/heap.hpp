// SPDX-License-Identifier: Apache-2.0
//
// The heap of a thread: slabs of each size class, and for each class a stack of the addresses of
// free blocks. Neither an allocation nor a free touches the block itself. If another core has
// written the block last, the program's own first store fetches it, and that store waits for
// nothing. A link inside the block would make the next allocation wait for that line.
//
// A block that another thread frees also goes home as an address. The freeing thread gathers up to
// 62 blocks of a heap in a bunch, which is a block of its own heap, and puts the bunch into the
// heap's lane by one atomic operation. It holds back at most 62 blocks or 32 KiB for each of 8
// heaps. It sends its bunches also when it needs a slab, trims or ends.
//
// Invariant: for a slab, in_use + the set bits = block_count. A block without its bit set is in use
// by the program, in a stack of the owner, in a bunch, or in the owner's lane. A slab is in its
// class's list exactly when it has a set bit, or is empty and kept.
//
// Threads: only the thread that has the heap uses it, or a thread with the lock of the heaps while
// the heap is idle; `lane`, `singles` and `residence` may be used by any.
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
    static constexpr std::size_t blocks_min = 8;  // fewer are sent without one
    Bunch* next = nullptr;
    std::size_t count = 0;
    void* blocks[blocks_max];

    static constexpr std::size_t words_before = 2;
};
static_assert(sizeof(Bunch) == 512 && offsetof(Bunch, blocks) == 2 * sizeof(void*));

/// A freed block on its way home with the link in itself: if there are few, or there is no bunch.
struct Single {
    Single* next;
};

struct Heap {
    /// The free blocks at hand, from base + 1 to top; *base is null, so that a stack is empty when
    /// the entry at its top is null, and so is the entry before it. `limit` is the last entry.
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

    // Written by other threads.
    alignas(cache_line_bytes) SharedLane<Bunch> lane;
    SharedLane<Single> singles;
    Residence<> residence;

    /// A heap without memory, for threads that have not allocated yet: every stack is empty.
    constexpr Heap() noexcept;
};

namespace detail {
inline constinit void* no_block = nullptr;  // the only entry of a stack without entries
}

constexpr Heap::Heap() noexcept : stacks{}, bases{} {
    for (Stack& stack : stacks) stack = {&detail::no_block, &detail::no_block};
}

/// Where a stack lies in its heap: a tag has it, so that a free computes no index.
constexpr std::uint16_t stack_offset(std::size_t class_index) noexcept {
    return static_cast<std::uint16_t>(class_index * sizeof(Heap::Stack));
}
static_assert(class_count * sizeof(Heap::Stack) <= UINT16_MAX && small_bytes_max <= UINT16_MAX);

inline Heap::Stack& stack_of(Heap& heap, const Tag& tag) noexcept {
    // The stacks are the first member.
    return *reinterpret_cast<Heap::Stack*>(reinterpret_cast<std::byte*>(&heap) + tag.stack_offset);
}

/// A free block of the class from its stack, or null.
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

/// A block of the class, which is at most small_bytes_max; null: no memory.
[[nodiscard]] inline void* allocate_small(Heap& heap, std::size_t class_index) noexcept {
    void* const memory = pop(heap, class_index);
    return memory != nullptr ? memory : allocate_after_refill(heap, class_index);
}

/// Makes room in a full stack and puts `memory` on it.
void push_after_flush(Heap& heap, std::size_t class_index, void* memory) noexcept;
[[noreturn, gnu::cold]] void freed_twice(const void* memory) noexcept;
/// Frees a block that is in no slab of the heap.
void release_elsewhere(Heap& heap, void* memory) noexcept;

/// For the thread that has `heap`. `memory` is not null.
inline void release(Heap& heap, void* memory) noexcept {
    const Tag& tag = tag_of(memory);
    if (tag.owner != &heap) [[unlikely]]
        return release_elsewhere(heap, memory);
    Heap::Stack& stack = stack_of(heap, tag);
    void** const top = stack.top;
    // Finds a block that was freed just before, or before one other; other double frees are found
    // when the block goes back to its slab.
    if (*top == memory || top[-1] == memory) [[unlikely]]
        freed_twice(memory);
    if (top == stack.limit) [[unlikely]]
        return push_after_flush(heap, tag.class_index, memory);
    top[1] = memory;
    stack.top = top + 1;
}

/// Takes the blocks that other threads freed out of the lane.
void collect(Heap& heap) noexcept;
/// Sends every bunch.
void send_all(Heap& heap) noexcept;
/// As both, and gives the blocks in the stacks back to their slabs, and empty slabs to the pool.
void settle(Heap& heap) noexcept;

/// Visits every slab in a list of the heap and checks its invariant; for tests. Only the thread
/// that has the heap.
[[nodiscard]] bool is_valid(const Heap& heap) noexcept;

/// Bytes of the block at `memory`, of any kind; faults if there is none.
[[nodiscard]] std::size_t block_bytes(const void* memory) noexcept;

/// The heap's own memory and its stacks; null: no memory.
[[nodiscard]] Heap* new_heap() noexcept;

}  // namespace strid::slab_malloc
