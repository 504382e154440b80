// SPDX-License-Identifier: Apache-2.0
//
// libstrid_malloc.so: malloc and its relations on heaps of threads. See README.md.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "classes.hpp"
#include "heap.hpp"
#include "large.hpp"
#include "region_pool.hpp"
#include "thread_heap.hpp"

namespace strid::preload {

[[gnu::cold]] void* out_of_memory() noexcept;

struct Allocator {
    static void* allocate(std::size_t bytes) noexcept {
        if (bytes > slab_malloc::small_bytes_max) [[unlikely]]
            return allocate_large(bytes, slab_malloc::class_step_bytes, false);
        const std::size_t index = slab_malloc::class_of(bytes);
        void* const memory = slab_malloc::pop(*slab_malloc::thread_heap, index);
        if (memory == nullptr) [[unlikely]]
            return refill(index);
        return memory;
    }

    static void* allocate_zeroed(std::size_t bytes) noexcept {
        if (bytes > slab_malloc::small_bytes_max) {
            return allocate_large(bytes, slab_malloc::class_step_bytes, true);
        }
        void* const memory = allocate(bytes);
        return memory == nullptr ? nullptr : std::memset(memory, 0, bytes);
    }

    static void* allocate_aligned(std::size_t bytes, std::size_t alignment) noexcept {
        if (bytes <= slab_malloc::small_bytes_max && alignment <= slab_malloc::small_bytes_max) {
            // A block lies at a multiple of every power of two that divides its size.
            std::size_t index = slab_malloc::class_of(std::max(bytes, alignment));
            while (slab_malloc::class_bytes(index) % alignment != 0) ++index;
            void* const memory = slab_malloc::pop(*slab_malloc::thread_heap, index);
            return memory != nullptr ? memory : refill(index);
        }
        return allocate_large(bytes, alignment, false);
    }

    static void release(void* memory) noexcept {
        if (memory == nullptr) return;
        slab_malloc::release(*slab_malloc::thread_heap, memory);
    }

    static std::size_t usable_bytes(const void* memory) noexcept {
        return slab_malloc::block_bytes(memory);
    }

    static void* reallocate(void* memory, std::size_t bytes) noexcept {
        const std::size_t usable = slab_malloc::block_bytes(memory);
        // A block that shrinks to less than half moves, so that the rest is not lost for its
        // lifetime.
        if (bytes <= usable && bytes >= usable / 2) return memory;
        if (usable > slab_malloc::small_bytes_max) {
            if (void* const resized = slab_malloc::resize_large(memory, bytes)) return resized;
        }
        void* const moved = allocate(bytes);
        if (moved == nullptr) return nullptr;
        std::memcpy(moved, memory, std::min(bytes, usable));
        release(memory);
        return moved;
    }

    static bool trim(std::size_t) noexcept {
        slab_malloc::settle_all();
        return slab_malloc::region_pool.purge();
    }

  private:
    [[gnu::noinline]] static void* refill(std::size_t index) noexcept {
        slab_malloc::Heap* const heap = slab_malloc::thread_heap;
        void* const memory = heap == &slab_malloc::no_heap
                                 ? slab_malloc::allocate_without_heap(index)
                                 : slab_malloc::allocate_after_refill(*heap, index);
        return memory != nullptr ? memory : out_of_memory();
    }

    [[gnu::noinline]] static void* allocate_large(std::size_t bytes, std::size_t alignment,
                                                  bool zero) noexcept {
        void* const memory = slab_malloc::allocate_large(bytes, alignment, zero);
        return memory != nullptr ? memory : out_of_memory();
    }
};

}  // namespace strid::preload

#include "entry_points.hpp"

namespace {

[[gnu::constructor]] void begin() {
    strid::slab_malloc::watch_threads();
}

}  // namespace
