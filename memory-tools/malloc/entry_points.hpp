// SPDX-License-Identifier: Apache-2.0
//
// The functions that a library to preload exports in place of those of the C library and of C++.
// The rules that the standards and glibc set for them (errno, overflow, sizes of 0, the new
// handler) are implemented here, once, for every allocator.
//
// The one source file of such a library that includes this header must define the allocator before:
//
//     namespace strid::preload { struct Allocator { ... }; }
//     #include "entry_points.hpp"
//
// with these static functions, all of them noexcept and free of calls that allocate:
//
//     void* allocate(size_t bytes)
//         memory of at least `bytes` (0 counts as 1), aligned to 16
//     void* allocate_zeroed(size_t bytes)
//         the same, every byte 0
//     void* allocate_aligned(size_t bytes, size_t alignment)
//         `alignment` is any power of two
//     void* reallocate(void* memory, size_t bytes)
//         `memory` is not null, `bytes` not 0; as realloc()
//     void release(void* memory)
//         as free(): takes null, leaves errno as it is
//     size_t usable_bytes(const void* memory)
//         `memory` is not null
//     bool trim(size_t keep_bytes)
//         as malloc_trim()
//
// A function that finds no memory, also for sizes above PTRDIFF_MAX, returns out_of_memory().
//
// The library needs nothing but the C library. Symbols that only C++ programs have (the new
// handler, the exception) are found by weak references, and by name if a program loads it later.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <dlfcn.h>
#include <unistd.h>

#define STRID_EXPORTED __attribute__((visibility("default")))

// A program in C has no libstdc++, and the allocator does not bring it.
namespace std {
[[gnu::weak]] new_handler get_new_handler() noexcept;
void __throw_bad_alloc() __attribute__((__noreturn__, __weak__));
}  // namespace std
__asm__(
    ".weak __gxx_personality_v0\n.weak __cxa_begin_catch\n.weak __cxa_end_catch\n"
    ".weak _ZSt9terminatev");

namespace strid::preload {

/// The result of an allocation that failed.
[[gnu::cold]] inline void* out_of_memory() noexcept {
    errno = ENOMEM;
    return nullptr;
}

inline bool is_power_of_two(std::size_t value) noexcept {
    return value != 0 && (value & (value - 1)) == 0;
}

// A shared object that was loaded after this library may have loaded libstdc++.
template <class Function>
Function* found_later(Function* function, const char* name) noexcept {
    if (function != nullptr) return function;
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

[[noreturn]] inline void end_without_memory() {
    constexpr char text[] = "strid: error: operator new found no memory\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof text - 1);
    abort();
}

// [new.delete.single]: calls the new handler and tries again until there is memory; throws if there
// is no handler.
[[gnu::cold, gnu::noinline]] inline void* allocate_by_handler(std::size_t bytes,
                                                              std::size_t alignment) {
    while (true) {
        void* const memory = Allocator::allocate_aligned(bytes, alignment);
        if (memory != nullptr) return memory;
        auto* const get_handler = found_later(&std::get_new_handler, "_ZSt15get_new_handlerv");
        const std::new_handler handler = get_handler == nullptr ? nullptr : get_handler();
        if (handler == nullptr) {
            auto* const throw_bad_alloc =
                found_later(&std::__throw_bad_alloc, "_ZSt17__throw_bad_allocv");
            if (throw_bad_alloc != nullptr) throw_bad_alloc();
            end_without_memory();
        }
        handler();
    }
}

}  // namespace strid::preload

extern "C" {

STRID_EXPORTED void* malloc(std::size_t bytes) noexcept {
    return strid::preload::Allocator::allocate(bytes);
}

STRID_EXPORTED void free(void* memory) noexcept {
    strid::preload::Allocator::release(memory);
}

STRID_EXPORTED void* calloc(std::size_t count, std::size_t bytes_each) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, bytes_each, &bytes)) return strid::preload::out_of_memory();
    return strid::preload::Allocator::allocate_zeroed(bytes);
}

// As in glibc: a size of 0 frees, and returns null.
STRID_EXPORTED void* realloc(void* memory, std::size_t bytes) noexcept {
    using strid::preload::Allocator;
    if (memory == nullptr) return Allocator::allocate(bytes);
    if (bytes == 0) {
        Allocator::release(memory);
        return nullptr;
    }
    return Allocator::reallocate(memory, bytes);
}

STRID_EXPORTED void* reallocarray(void* memory, std::size_t count,
                                  std::size_t bytes_each) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, bytes_each, &bytes)) return strid::preload::out_of_memory();
    return realloc(memory, bytes);
}

STRID_EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    if (!strid::preload::is_power_of_two(alignment)) {
        errno = EINVAL;
        return nullptr;
    }
    return strid::preload::Allocator::allocate_aligned(bytes, alignment);
}

// As in glibc: an alignment that is no power of two counts as the next one.
STRID_EXPORTED void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
    std::size_t power = sizeof(void*);
    while (power < alignment) {
        if (power > SIZE_MAX / 2) {
            errno = EINVAL;
            return nullptr;
        }
        power *= 2;
    }
    return strid::preload::Allocator::allocate_aligned(bytes, power);
}

// As in POSIX: returns the error, and leaves *result unchanged on failure.
STRID_EXPORTED int posix_memalign(void** result, std::size_t alignment,
                                  std::size_t bytes) noexcept {
    if (!strid::preload::is_power_of_two(alignment) || alignment % sizeof(void*) != 0) {
        return EINVAL;
    }
    const int errno_before = errno;
    void* const memory = strid::preload::Allocator::allocate_aligned(bytes, alignment);
    errno = errno_before;
    if (memory == nullptr) return ENOMEM;
    *result = memory;
    return 0;
}

STRID_EXPORTED void* valloc(std::size_t bytes) noexcept {
    const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return strid::preload::Allocator::allocate_aligned(bytes, page_bytes);
}

STRID_EXPORTED void* pvalloc(std::size_t bytes) noexcept {
    const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::size_t rounded = 0;
    if (__builtin_add_overflow(bytes, page_bytes - 1, &rounded)) {
        return strid::preload::out_of_memory();
    }
    return strid::preload::Allocator::allocate_aligned(rounded & ~(page_bytes - 1), page_bytes);
}

STRID_EXPORTED std::size_t malloc_usable_size(void* memory) noexcept {
    return memory == nullptr ? 0 : strid::preload::Allocator::usable_bytes(memory);
}

STRID_EXPORTED int malloc_trim(std::size_t keep_bytes) noexcept {
    return strid::preload::Allocator::trim(keep_bytes) ? 1 : 0;
}

}  // extern "C"

// The forms for arrays, of known size and without exceptions call the plain ones, which a program
// may have replaced alone ([new.delete]).

STRID_EXPORTED void* operator new(std::size_t bytes) {
    void* const memory = strid::preload::Allocator::allocate(bytes);
    if (memory == nullptr) [[unlikely]]
        return strid::preload::allocate_by_handler(bytes, 16);
    return memory;
}

STRID_EXPORTED void* operator new(std::size_t bytes, std::align_val_t alignment) {
    const auto power = static_cast<std::size_t>(alignment);
    void* const memory = strid::preload::Allocator::allocate_aligned(bytes, power);
    if (memory == nullptr) [[unlikely]]
        return strid::preload::allocate_by_handler(bytes, power);
    return memory;
}

STRID_EXPORTED void* operator new[](std::size_t bytes) {
    return ::operator new(bytes);
}

STRID_EXPORTED void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return ::operator new(bytes, alignment);
}

STRID_EXPORTED void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    try {
        return ::operator new(bytes);
    } catch (...) {
        return nullptr;
    }
}

STRID_EXPORTED void* operator new(std::size_t bytes, std::align_val_t alignment,
                                  const std::nothrow_t&) noexcept {
    try {
        return ::operator new(bytes, alignment);
    } catch (...) {
        return nullptr;
    }
}

STRID_EXPORTED void* operator new[](std::size_t bytes, const std::nothrow_t& nothrow) noexcept {
    return ::operator new(bytes, nothrow);
}

STRID_EXPORTED void* operator new[](std::size_t bytes, std::align_val_t alignment,
                                    const std::nothrow_t& nothrow) noexcept {
    return ::operator new(bytes, alignment, nothrow);
}

STRID_EXPORTED void operator delete(void* memory) noexcept {
    strid::preload::Allocator::release(memory);
}

STRID_EXPORTED void operator delete(void* memory, std::align_val_t) noexcept {
    strid::preload::Allocator::release(memory);
}

STRID_EXPORTED void operator delete[](void* memory) noexcept {
    ::operator delete(memory);
}

STRID_EXPORTED void operator delete[](void* memory, std::align_val_t alignment) noexcept {
    ::operator delete(memory, alignment);
}

STRID_EXPORTED void operator delete(void* memory, std::size_t) noexcept {
    ::operator delete(memory);
}

STRID_EXPORTED void operator delete[](void* memory, std::size_t) noexcept {
    ::operator delete[](memory);
}

STRID_EXPORTED void operator delete(void* memory, std::size_t,
                                    std::align_val_t alignment) noexcept {
    ::operator delete(memory, alignment);
}

STRID_EXPORTED void operator delete[](void* memory, std::size_t,
                                      std::align_val_t alignment) noexcept {
    ::operator delete[](memory, alignment);
}

STRID_EXPORTED void operator delete(void* memory, const std::nothrow_t&) noexcept {
    ::operator delete(memory);
}

STRID_EXPORTED void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    ::operator delete[](memory);
}

STRID_EXPORTED void operator delete(void* memory, std::align_val_t alignment,
                                    const std::nothrow_t&) noexcept {
    ::operator delete(memory, alignment);
}

STRID_EXPORTED void operator delete[](void* memory, std::align_val_t alignment,
                                      const std::nothrow_t&) noexcept {
    ::operator delete[](memory, alignment);
}
