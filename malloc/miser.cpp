// SPDX-License-Identifier: Apache-2.0
//
// libstrid_miser.so: requests of up to 256 bytes from the heap of the thread, everything else from
// the C library: the division of Miser (paper 3, II.H), on the slabs of libstrid_malloc.so. A slab
// is what the paper calls a superblock: it belongs to one thread, so threads share no line, and an
// empty one goes to the pool of all.
//
// Law: a block is of a slab exactly when a region of the pool has its address.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <dlfcn.h>

#include "classes.hpp"
#include "heap.hpp"
#include "region_pool.hpp"
#include "thread_heap.hpp"

// glibc's own functions by the names that no library replaces.
extern "C" {
void* __libc_malloc(std::size_t bytes) noexcept;
void* __libc_calloc(std::size_t count, std::size_t bytes_each) noexcept;
void* __libc_realloc(void* memory, std::size_t bytes) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t bytes) noexcept;
void __libc_free(void* memory) noexcept;
}

namespace strid::preload {

[[gnu::cold]] void* out_of_memory() noexcept;

struct Allocator {
    static constexpr std::size_t own_bytes_max = 256;

    static void* allocate(std::size_t bytes) noexcept {
        if (bytes > own_bytes_max) return __libc_malloc(bytes);
        return allocate_class(slab_malloc::class_of(bytes));
    }

    static void* allocate_zeroed(std::size_t bytes) noexcept {
        if (bytes > own_bytes_max) return __libc_calloc(bytes, 1);
        void* const memory = allocate(bytes);
        return memory == nullptr ? nullptr : std::memset(memory, 0, bytes);
    }

    static void* allocate_aligned(std::size_t bytes, std::size_t alignment) noexcept {
        if (bytes > own_bytes_max || alignment > own_bytes_max) {
            return __libc_memalign(alignment, bytes);
        }
        // A block lies at a multiple of every power of two that divides its size.
        std::size_t index = slab_malloc::class_of(std::max(bytes, alignment));
        while (slab_malloc::class_bytes(index) % alignment != 0) ++index;
        return allocate_class(index);
    }

    static void release(void* memory) noexcept {
        if (memory == nullptr) return;
        if (is_own(memory)) {
            slab_malloc::release(*slab_malloc::thread_heap, memory);
        } else {
            __libc_free(memory);
        }
    }

    static std::size_t usable_bytes(const void* memory) noexcept {
        return is_own(memory) ? slab_malloc::block_bytes(memory) : usable_bytes_of_libc(memory);
    }

    // What crosses the limit of 256 bytes moves to the other side.
    static void* reallocate(void* memory, std::size_t bytes) noexcept {
        const bool own = is_own(memory);
        if (!own && bytes > own_bytes_max) return __libc_realloc(memory, bytes);
        const std::size_t usable = usable_bytes(memory);
        if (own && bytes <= usable && bytes >= usable / 2) return memory;
        void* const moved = allocate(bytes);
        if (moved == nullptr) return nullptr;
        std::memcpy(moved, memory, std::min(bytes, usable));
        release(memory);
        return moved;
    }

    static bool trim(std::size_t keep_bytes) noexcept {
        slab_malloc::settle_all();
        const bool ours = slab_malloc::region_pool.purge();
        using Trim = int(std::size_t);
        auto* const trim_libc = reinterpret_cast<Trim*>(dlsym(RTLD_NEXT, "malloc_trim"));
        return (trim_libc != nullptr && trim_libc(keep_bytes) != 0) || ours;
    }

  private:
    static bool is_own(const void* memory) noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(memory);
        const auto region = address & ~(slab_malloc::region_bytes - 1);
        return slab_malloc::region_pool.is_known(reinterpret_cast<const void*>(region));
    }

    static void* allocate_class(std::size_t index) noexcept {
        void* const memory = slab_malloc::pop(*slab_malloc::thread_heap, index);
        return memory != nullptr ? memory : refill(index);
    }

    [[gnu::noinline]] static void* refill(std::size_t index) noexcept {
        slab_malloc::Heap* const heap = slab_malloc::thread_heap;
        void* const memory = heap == &slab_malloc::no_heap
                                 ? slab_malloc::allocate_without_heap(index)
                                 : slab_malloc::allocate_after_refill(*heap, index);
        return memory != nullptr ? memory : out_of_memory();
    }

    [[gnu::noinline]] static std::size_t usable_bytes_of_libc(const void* memory) noexcept {
        using Usable = std::size_t(const void*);
        static std::atomic<Usable*> known{nullptr};
        // Relaxed: the function is the same for every thread that looks it up.
        Usable* usable = known.load(std::memory_order_relaxed);
        if (usable == nullptr) {
            usable = reinterpret_cast<Usable*>(dlsym(RTLD_NEXT, "malloc_usable_size"));
            known.store(usable, std::memory_order_relaxed);
        }
        return usable(memory);
    }
};

}  // namespace strid::preload

#include "entry_points.hpp"

namespace {

[[gnu::constructor]] void begin() {
    strid::slab_malloc::watch_threads();
}

}  // namespace
