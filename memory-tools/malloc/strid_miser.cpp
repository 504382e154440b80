// SPDX-License-Identifier: Apache-2.0
//
// libstrid_miser.so: the division of work of Miser (paper 3, II.H). Blocks of up to 256 bytes are
// in slabs of the thread's own heap; larger ones come from the C library. The table of regions
// distinguishes the two.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <dlfcn.h>

#include "classes.hpp"
#include "heap.hpp"
#include "large.hpp"
#include "region_pool.hpp"
#include "thread_heap.hpp"

namespace strid::preload {

[[gnu::cold]] void* out_of_memory() noexcept;

namespace {

constexpr std::size_t ours_bytes_max = 256;

/// The functions of the library after this one. Found before the program begins; while the loader
/// searches for them, its requests are served from a region.
struct Next {
    void* (*malloc)(std::size_t) = nullptr;
    void* (*calloc)(std::size_t, std::size_t) = nullptr;
    void* (*realloc)(void*, std::size_t) = nullptr;
    void* (*memalign)(std::size_t, std::size_t) = nullptr;
    void (*free)(void*) = nullptr;
    std::size_t (*malloc_usable_size)(void*) = nullptr;
    int (*malloc_trim)(std::size_t) = nullptr;
};
constinit Next next;
constinit bool is_looking = false;

template <class Function>
void look_for(Function*& function, const char* name) noexcept {
    function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// The first call comes from the loader, before there are threads.
bool is_found() noexcept {
    if (next.malloc_trim != nullptr) [[likely]]
        return true;
    if (is_looking) return false;
    is_looking = true;
    look_for(next.malloc, "malloc");
    look_for(next.calloc, "calloc");
    look_for(next.realloc, "realloc");
    look_for(next.memalign, "memalign");
    look_for(next.free, "free");
    look_for(next.malloc_usable_size, "malloc_usable_size");
    look_for(next.malloc_trim, "malloc_trim");
    is_looking = false;
    return next.malloc_trim != nullptr;
}

bool is_ours(const void* memory) noexcept {
    return slab_malloc::region_pool.is_known(slab_malloc::region_of(memory));
}

}  // namespace

struct Allocator {
    static void* allocate(std::size_t bytes) noexcept {
        if (bytes <= ours_bytes_max) return take(slab_malloc::class_of(bytes));
        return is_found() ? next.malloc(bytes) : from_region(bytes, slab_malloc::class_step_bytes);
    }

    static void* allocate_zeroed(std::size_t bytes) noexcept {
        if (bytes > ours_bytes_max && is_found()) return next.calloc(1, bytes);
        void* const memory = allocate(bytes);
        return memory == nullptr ? nullptr : std::memset(memory, 0, bytes);
    }

    static void* allocate_aligned(std::size_t bytes, std::size_t alignment) noexcept {
        if (bytes <= ours_bytes_max && alignment <= ours_bytes_max) {
            std::size_t index = slab_malloc::class_of(std::max(bytes, alignment));
            while (slab_malloc::class_bytes(index) % alignment != 0) ++index;
            return take(index);
        }
        return is_found() ? next.memalign(alignment, bytes) : from_region(bytes, alignment);
    }

    static void release(void* memory) noexcept {
        if (memory == nullptr) return;
        if (is_ours(memory)) return slab_malloc::release(*slab_malloc::thread_heap, memory);
        next.free(memory);
    }

    static std::size_t usable_bytes(const void* memory) noexcept {
        if (is_ours(memory)) return slab_malloc::block_bytes(memory);
        return next.malloc_usable_size(const_cast<void*>(memory));
    }

    // A block of the C library stays there.
    static void* reallocate(void* memory, std::size_t bytes) noexcept {
        if (!is_ours(memory)) return next.realloc(memory, bytes);
        const std::size_t usable = slab_malloc::block_bytes(memory);
        if (bytes <= usable && bytes >= usable / 2) return memory;
        void* const moved = allocate(bytes);
        if (moved == nullptr) return nullptr;
        std::memcpy(moved, memory, std::min(bytes, usable));
        release(memory);
        return moved;
    }

    static bool trim(std::size_t keep_bytes) noexcept {
        slab_malloc::settle_all();
        const bool purged = slab_malloc::region_pool.purge();
        return (is_found() && next.malloc_trim(keep_bytes) != 0) || purged;
    }

  private:
    static void* take(std::size_t index) noexcept {
        slab_malloc::Heap* const heap = slab_malloc::thread_heap;
        if (void* const memory = slab_malloc::pop(*heap, index)) return memory;
        void* const memory = heap == &slab_malloc::no_heap
                                 ? slab_malloc::allocate_without_heap(index)
                                 : slab_malloc::allocate_after_refill(*heap, index);
        return memory != nullptr ? memory : out_of_memory();
    }

    static void* from_region(std::size_t bytes, std::size_t alignment) noexcept {
        void* const memory = slab_malloc::allocate_large(bytes, alignment, false);
        return memory != nullptr ? memory : out_of_memory();
    }
};

}  // namespace strid::preload

#include "entry_points.hpp"

namespace {

[[gnu::constructor]] void begin() {
    strid::preload::is_found();
    strid::slab_malloc::watch_threads();
}

}  // namespace
