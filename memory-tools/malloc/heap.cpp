// SPDX-License-Identifier: Apache-2.0
#include "heap.hpp"

#include <bit>
#include <cstring>
#include <new>

#include <sys/mman.h>

#include "fault.hpp"
#include "large.hpp"
#include "region_pool.hpp"
#include "slabs.hpp"
#include "thread_heap.hpp"

namespace strid::slab_malloc {

namespace {

constexpr std::size_t bunch_class = memory::detail::size_class_index(sizeof(Bunch));

Heap::Outgoing& outgoing_to(Heap& heap, const Heap* to) noexcept {
    // Heaps lie pages apart.
    const std::size_t page = reinterpret_cast<std::uintptr_t>(to) / page_bytes;
    return heap.outgoing[(page ^ page >> 3 ^ page >> 6) % Heap::outgoing_count];
}

// Sends the outgoing blocks. If they are few, they are linked to each other, and the bunch, which
// would take more memory than they do, comes back empty.
Bunch* send(Heap::Outgoing& outgoing) noexcept {
    Bunch* const bunch = outgoing.bunch;
    if (bunch == nullptr) return nullptr;
    Heap& to = *outgoing.to;
    outgoing = {};
    const bool goes = bunch->count >= Bunch::blocks_min;
    if (goes) {
        to.lane.give(bunch, bunch);
    } else if (bunch->count != 0) {
        Single* first = nullptr;
        auto* const last = static_cast<Single*>(bunch->blocks[0]);
        for (std::size_t at = 0; at < bunch->count; ++at) {
            first = new (bunch->blocks[at]) Single{first};
        }
        bunch->count = 0;
        to.singles.give(first, last);
    }
    if (to.residence.is_idle()) collect_idle(to);
    return goes ? nullptr : bunch;
}

void send_alone(Heap& to, void* memory) noexcept {
    auto* const single = new (memory) Single{nullptr};
    to.singles.give(single, single);
    if (to.residence.is_idle()) collect_idle(to);
}

// Puts an empty bunch for `to` among the outgoing ones; false: no memory for one.
bool begin_bunch(Heap& heap, Heap& to, Heap::Outgoing& outgoing) noexcept {
    Bunch* bunch = send(outgoing);
    if (bunch == nullptr) {
        // A thread without a heap of its own has no memory for a bunch.
        if (heap.bases[0] == nullptr) return false;
        void* const memory = allocate_small(heap, bunch_class);
        if (memory == nullptr) return false;
        // The allocation may have collected, and then freed the collected blocks to the same heap.
        if (outgoing.to == &to) {
            release(heap, memory);
            return true;
        }
        if (Bunch* const spare = send(outgoing)) release(heap, spare);
        bunch = new (memory) Bunch;
    }
    outgoing = {&to, bunch, Heap::outgoing_bytes_max};
    return true;
}

void release_to(Heap& heap, Heap& to, void* memory, std::uint32_t bytes) noexcept {
    Heap::Outgoing& outgoing = outgoing_to(heap, &to);
    if (outgoing.to != &to) [[unlikely]] {
        if (!begin_bunch(heap, to, outgoing)) return send_alone(to, memory);
    }
    Bunch& bunch = *outgoing.bunch;
    // As in release(). Before the first blocks are the count and a null link, which are no blocks.
    void** const end = reinterpret_cast<void**>(&bunch) + Bunch::words_before + bunch.count;
    if (end[-1] == memory || end[-2] == memory) [[unlikely]]
        freed_twice(memory);
    *end = memory;
    ++bunch.count;
    outgoing.bytes_left -= bytes;
    if (bunch.count < Bunch::blocks_max && outgoing.bytes_left > 0) [[likely]]
        return;
    if (Bunch* const spare = send(outgoing)) {
        outgoing = {&to, spare, Heap::outgoing_bytes_max};
    }
}

// The memory of a bunch goes to the heap that it is a block of. An idle heap sends no bunches: two
// of them would send each other the same two for ever.
void release_bunch(Heap& heap, Bunch* bunch) noexcept {
    Heap* const owner = tag_of(bunch).owner;
    if (owner == &heap || &heap == thread_heap) return release(heap, bunch);
    if (owner == thread_heap) return release(*owner, bunch);
    send_alone(*owner, bunch);
}

// A block of the heap comes home: to its stack, or to its slab if that is full.
inline void take_home(Heap& heap, void* memory) noexcept {
    const Tag& tag = tag_of(memory);
    if (tag.owner != &heap) [[unlikely]]
        fault("free of an address that is no block", memory);
    Heap::Stack& stack = heap.stacks[tag.class_index];
    if (stack.top == stack.limit) return give_to_slab(heap, memory);
    *++stack.top = memory;
}

}  // namespace

void* allocate_after_refill(Heap& heap, std::size_t class_index) noexcept {
    if (heap.lane.has_some() || heap.singles.has_some()) {
        collect(heap);
        if (void* const memory = pop(heap, class_index)) return memory;
    }
    if (!take_from_slabs(heap, class_index)) {
        // Other threads may wait for the blocks that this thread holds back.
        send_all(heap);
        if (void* const memory = pop(heap, class_index)) return memory;
        if (!take_from_slabs(heap, class_index)) {
            if (!add_slab(heap, class_index)) return nullptr;
            take_from_slabs(heap, class_index);
        }
    }
    return pop(heap, class_index);
}

void freed_twice(const void* memory) noexcept {
    fault("block freed twice", memory);
}

void push_after_flush(Heap& heap, std::size_t class_index, void* memory) noexcept {
    Heap::Stack& stack = heap.stacks[class_index];
    void** const first = heap.bases[class_index] + 1;
    const auto held = static_cast<std::size_t>(stack.top + 1 - first);
    // The oldest go, which are the coldest.
    const std::size_t going = held - held / 2;
    for (std::size_t at = 0; at < going; ++at) give_to_slab(heap, first[at]);
    std::memmove(first, first + going, (held - going) * sizeof(void*));
    stack.top -= going;
    *++stack.top = memory;
}

void release_elsewhere(Heap& heap, void* memory) noexcept {
    if (!region_pool.is_known(region_of(memory))) {
        fault("free of an address that malloc did not return", memory);
    }
    const Tag& tag = tag_of(memory);
    switch (tag.kind) {
        case Kind::small:
            if (&heap == &no_heap && free_needs_heap()) {
                if (void* const first = allocate_without_heap(0)) {
                    // The block that comes with the heap goes back to it.
                    release(*thread_heap, first);
                    return release(*thread_heap, memory);
                }
            }
            return release_to(heap, *tag.owner, memory, tag.block_bytes);
        case Kind::large:
            return release_large(memory);
        case Kind::huge:
            return release_huge(memory);
        case Kind::none:
            break;
    }
    fault("free of an address that is no block", memory);
}

void collect(Heap& heap) noexcept {
    for (Bunch* bunch = heap.lane.take_all(); bunch != nullptr;) {
        Bunch* const next = bunch->next;
        for (std::size_t at = 0; at < bunch->count; ++at) take_home(heap, bunch->blocks[at]);
        release_bunch(heap, bunch);
        bunch = next;
    }
    for (Single* single = heap.singles.take_all(); single != nullptr;) {
        Single* const next = single->next;
        take_home(heap, single);
        single = next;
    }
}

void send_all(Heap& heap) noexcept {
    for (Heap::Outgoing& outgoing : heap.outgoing) {
        if (Bunch* const spare = send(outgoing)) release(heap, spare);
    }
}

void settle(Heap& heap) noexcept {
    // Bunches whose blocks are collected go home in bunches themselves.
    collect(heap);
    send_all(heap);
    for (std::size_t index = 0; index < class_count; ++index) {
        Heap::Stack& stack = heap.stacks[index];
        for (; *stack.top != nullptr; --stack.top) give_to_slab(heap, *stack.top);
    }
    give_back_empty(heap);
}

std::size_t block_bytes(const void* memory) noexcept {
    if (!region_pool.is_known(region_of(memory))) {
        fault("size of an address that malloc did not return", memory);
    }
    const Tag& tag = tag_of(memory);
    switch (tag.kind) {
        case Kind::small:
            return tag.block_bytes;
        case Kind::large:
            return slab_of(memory).units * unit_bytes;
        case Kind::huge:
            return huge_bytes(memory);
        case Kind::none:
            break;
    }
    fault("size of an address that is no block", memory);
}

Heap* new_heap() noexcept {
    std::size_t entries = 0;
    for (std::size_t index = 0; index < class_count; ++index) entries += stack_capacity(index) + 2;
    const std::size_t bytes = round_up(sizeof(Heap) + entries * sizeof(void*), page_bytes);
    std::byte* const memory = map_aligned(bytes, page_bytes);
    if (memory == nullptr) return nullptr;
    Heap* const heap = new (memory) Heap;
    auto* base = reinterpret_cast<void**>(memory + sizeof(Heap));
    for (std::size_t index = 0; index < class_count; ++index) {
        heap->bases[index] = ++base;
        heap->stacks[index] = {base, base + stack_capacity(index)};
        base += stack_capacity(index) + 1;
    }
    return heap;
}

bool is_valid(const Heap& heap) noexcept {
    for (std::size_t index = 0; index < class_count; ++index) {
        std::size_t empty = 0;
        for (const Slab* slab = heap.classes[index].first; slab != nullptr; slab = slab->next) {
            std::size_t free = 0;
            for (std::size_t word = 0; word < (slab->block_count + 63) / 64; ++word) {
                free += static_cast<std::size_t>(std::popcount(slab->free_bits[word]));
                if (word < slab->next_word && slab->free_bits[word] != 0) return false;
            }
            if (free + slab->in_use != slab->block_count || free == 0) return false;
            if (!slab->listed || slab->class_index != index) return false;
            if (slab->in_use == 0) ++empty;
        }
        if (empty != heap.classes[index].kept_empty) return false;
        const Heap::Stack& stack = heap.stacks[index];
        // Up to the null at the base; the heap of a thread that has none yet has nothing else.
        for (void** at = stack.top; *at != nullptr; --at) {
            if (tag_of(*at).owner != &heap || tag_of(*at).class_index != index) return false;
        }
    }
    return true;
}

}  // namespace strid::slab_malloc
