// SPDX-License-Identifier: Apache-2.0
#include "slabs.hpp"

#include <bit>

#include "fault.hpp"
#include "region_pool.hpp"

namespace strid::slab_malloc {

namespace {

std::size_t words_of(const Slab& slab) noexcept {
    return (std::size_t{slab.block_count} + 63) / 64;
}

void add_to_list(Heap::Class& list, Slab& slab) noexcept {
    slab.next = nullptr;
    slab.previous = list.last;
    (list.last == nullptr ? list.first : list.last->next) = &slab;
    list.last = &slab;
    slab.listed = true;
}

void remove_from_list(Heap::Class& list, Slab& slab) noexcept {
    (slab.previous == nullptr ? list.first : slab.previous->next) = slab.next;
    (slab.next == nullptr ? list.last : slab.next->previous) = slab.previous;
    slab.listed = false;
}

std::byte* memory_of(Slab& slab) noexcept {
    Region* const region = region_of(&slab);
    return region->unit(slab.first_unit);
}

void give_to_pool(Heap::Class& list, Slab& slab) noexcept {
    remove_from_list(list, slab);
    region_pool.give_back(memory_of(slab), slab.units);
}

}  // namespace

bool take_from_slabs(Heap& heap, std::size_t class_index) noexcept {
    Heap::Class& list = heap.classes[class_index];
    Slab* const slab = list.first;
    if (slab == nullptr) return false;
    if (slab->in_use == 0) list.kept_empty = 0;
    Heap::Stack& stack = heap.stacks[class_index];
    const auto room = static_cast<std::size_t>(stack.limit - stack.top);
    // Half of it, so that the next frees find room.
    const std::size_t wanted = (room + 1) / 2;
    void* taken[stack_blocks_max];
    std::size_t count = 0;
    const std::size_t words = words_of(*slab);
    std::size_t word = slab->next_word;
    for (; word < words && count < wanted; ++word) {
        std::uint64_t bits = slab->free_bits[word];
        if (bits == 0) continue;
        std::byte* const base = slab->first_block + word * 64 * slab->block_bytes;
        do {
            taken[count++] =
                base + static_cast<std::size_t>(std::countr_zero(bits)) * slab->block_bytes;
            bits &= bits - 1;
        } while (bits != 0 && count < wanted);
        slab->free_bits[word] = bits;
        if (bits != 0) break;
    }
    slab->next_word = static_cast<std::uint32_t>(word);
    slab->in_use += static_cast<std::uint32_t>(count);
    if (slab->in_use == slab->block_count) remove_from_list(list, *slab);
    while (count != 0) *++stack.top = taken[--count];
    return true;
}

bool add_slab(Heap& heap, std::size_t class_index) noexcept {
    const std::size_t bytes = class_bytes(class_index);
    const std::size_t units = slab_units(class_index);
    std::byte* const memory = region_pool.take(units).memory;
    if (memory == nullptr) return false;
    Region* const region = region_of(memory + 1);
    const std::size_t first_unit = unit_of(memory);
    Slab& slab = *new (&region->slabs[first_unit]) Slab;
    std::size_t first_offset = 0;
    if (bytes < header_bits_from_bytes) {
        slab.free_bits = reinterpret_cast<std::uint64_t*>(memory);
        first_offset = round_up(unit_bytes / bytes / 8 + 8, bytes & (~bytes + 1));
    } else {
        slab.free_bits = region->bits[first_unit];
    }
    slab.first_block = memory + first_offset;
    slab.block_bytes = static_cast<std::uint32_t>(bytes);
    slab.reciprocal = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + bytes - 1) / bytes);
    const std::size_t count = (units * unit_bytes - first_offset) / bytes;
    slab.block_count = static_cast<std::uint32_t>(count);
    slab.first_unit = static_cast<std::uint16_t>(first_unit);
    slab.units = static_cast<std::uint16_t>(units);
    slab.class_index = static_cast<std::uint8_t>(class_index);
    for (std::size_t word = 0; word < count / 64; ++word) slab.free_bits[word] = ~std::uint64_t{0};
    if (count % 64 != 0) slab.free_bits[count / 64] = (std::uint64_t{1} << count % 64) - 1;
    for (std::size_t unit = first_unit; unit < first_unit + units; ++unit) {
        region->tags[unit] = {&heap,
                              static_cast<std::uint8_t>(class_index),
                              Kind::small,
                              static_cast<std::uint16_t>(first_unit),
                              static_cast<std::uint16_t>(bytes),
                              stack_offset(class_index)};
    }
    add_to_list(heap.classes[class_index], slab);
    return true;
}

void give_to_slab(Heap& heap, void* memory) noexcept {
    Slab& slab = slab_of(memory);
    const std::ptrdiff_t distance = static_cast<std::byte*>(memory) - slab.first_block;
    const auto offset = static_cast<std::size_t>(distance);
    // Exact for every offset that is a multiple of the size: the rounding of the reciprocal adds
    // less than 2^19 / 2^32 of a block.
    const std::size_t index = (offset * slab.reciprocal) >> 32;
    if (distance < 0 || index >= slab.block_count || index * slab.block_bytes != offset) {
        fault("free of an address that is no block", memory);
    }
    std::uint64_t& bits = slab.free_bits[index / 64];
    const std::uint64_t bit = std::uint64_t{1} << index % 64;
    if ((bits & bit) != 0) freed_twice(memory);
    bits |= bit;
    if (index / 64 < slab.next_word) slab.next_word = static_cast<std::uint32_t>(index / 64);
    Heap::Class& list = heap.classes[slab.class_index];
    if (!slab.listed) add_to_list(list, slab);
    if (--slab.in_use != 0) return;
    // The only slab with free blocks stays, where it is not large: the class may need it at once.
    if (list.first == list.last && slab.units == 1) {
        list.kept_empty = 1;
    } else {
        give_to_pool(list, slab);
    }
}

void give_back_empty(Heap& heap) noexcept {
    for (Heap::Class& list : heap.classes) {
        for (Slab* slab = list.first; slab != nullptr && list.kept_empty != 0;) {
            Slab* const next = slab->next;
            if (slab->in_use == 0) {
                give_to_pool(list, *slab);
                list.kept_empty = 0;
            }
            slab = next;
        }
    }
}

}  // namespace strid::slab_malloc
