// SPDX-License-Identifier: Apache-2.0
//
// Replaces the global operator new by one that counts its calls, and the bytes that are out, and
// fails where a test asks for it: included by one file of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <malloc.h>

#include "allocations.hpp"

namespace strid::test {

// Null when there is no memory.
inline void* counted_or_null(std::size_t bytes, std::size_t alignment) noexcept {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (granted_before_failure >= 0 && granted_before_failure-- == 0) return nullptr;
    void* const memory =
        alignment == 0
            ? std::malloc(bytes == 0 ? 1 : bytes)
            : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    live_bytes.fetch_add(static_cast<std::int64_t>(::malloc_usable_size(memory)),
                         std::memory_order_relaxed);
    return memory;
}

inline void freed(void* memory) noexcept {
    live_bytes.fetch_sub(static_cast<std::int64_t>(::malloc_usable_size(memory)),
                         std::memory_order_relaxed);
    std::free(memory);
}

inline void* counted(std::size_t bytes, std::size_t alignment) {
    void* const memory = counted_or_null(bytes, alignment);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace strid::test

[[gnu::noinline]] void* operator new(std::size_t bytes) {
    return strid::test::counted(bytes, 0);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
    return strid::test::counted(bytes, 0);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return strid::test::counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return strid::test::counted(bytes, static_cast<std::size_t>(alignment));
}
// The forms that do not throw too (std::stable_sort asks for its buffer with one): those of a
// sanitizer would not come by here, and what they give must not go back through std::free.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return strid::test::counted_or_null(bytes, 0);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return strid::test::counted_or_null(bytes, 0);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    strid::test::freed(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
    strid::test::freed(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    strid::test::freed(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
    strid::test::freed(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
    strid::test::freed(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    strid::test::freed(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept {
    strid::test::freed(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    strid::test::freed(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
    strid::test::freed(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    strid::test::freed(memory);
}
