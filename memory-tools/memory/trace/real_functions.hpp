// SPDX-License-Identifier: Apache-2.0
//
// The functions that this library stands before: those of the next library that has them, which is
// another allocator where one is preloaded behind this one, and otherwise the C library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strid::trace {

struct RealFunctions {
    void* (*malloc)(std::size_t);
    void* (*calloc)(std::size_t, std::size_t);
    void* (*realloc)(void*, std::size_t);
    void (*free)(void*);
    void* (*aligned_alloc)(std::size_t, std::size_t);
    int (*posix_memalign)(void**, std::size_t, std::size_t);
    void* (*memalign)(std::size_t, std::size_t);
    void* (*valloc)(std::size_t);
    void* (*pvalloc)(std::size_t);
};

/// Set once by find_real_functions(), before the first thread starts.
extern constinit RealFunctions real;

/// Finds them. dlsym may allocate: meanwhile memory comes from bootstrap_allocate().
void find_real_functions();

/// Zeroed memory that is never reused, for what dlsym asks for; null when it is used up.
[[nodiscard]] void* bootstrap_allocate(std::size_t bytes);

inline constexpr std::size_t kBootstrapBytes = std::size_t{64} << 10;
alignas(16) extern constinit char bootstrap_memory[kBootstrapBytes];

[[nodiscard]] inline bool is_bootstrap(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) -
               reinterpret_cast<std::uintptr_t>(bootstrap_memory) <
           kBootstrapBytes;
}

/// The path of the library whose malloc is called; empty if it is not known.
void allocator_path(char* text, std::size_t bytes);

/// Whether that is the C library, whose blocks lie 16 bytes apart at least.
[[nodiscard]] bool allocator_is_libc();

/// dlsym(RTLD_NEXT, name); null if there is none.
[[nodiscard]] void* next_symbol(const char* name);

}  // namespace strid::trace
