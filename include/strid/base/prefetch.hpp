// SPDX-License-Identifier: Apache-2.0
//
// Cache lines on their way between cores: asking for them ahead, and leaving them to who writes
// them next (docs/design/0008). Stateless; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <strid/base/cache_line.hpp>

namespace strid {

/// Asks for the line that lies so many bytes behind `from`, in order to write it. A line that
/// another core has read must be taken from it first, which costs some hundred cycles; asked for
/// ahead, it is there in time. Any address will do: the hint never faults.
inline void prefetch_for_write(const void* from, std::size_t bytes_ahead) noexcept {
    // As a number: a pointer may not leave its array, a hint may.
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(from) + bytes_ahead;
#if defined(__x86_64__)
    // __builtin_prefetch makes this instruction only where newer processors are compiled for.
    asm volatile("prefetchw (%0)" : : "r"(address));
#else
    __builtin_prefetch(reinterpret_cast<const void*>(address), 1);
#endif
}

/// Asks for the line at `address` in order to read it. Any address will do.
inline void prefetch_for_read(const void* address) noexcept {
#if defined(__x86_64__)
    // __builtin_prefetch does not count as an effect: a function that does no more than look
    // something up and ask for it is taken for one that may as well not be called.
    asm volatile("prefetcht0 (%0)" : : "r"(address));
#else
    __builtin_prefetch(address);
#endif
}

/// Asks for the first lines of an object that will be read, four at most: the processor has ten or
/// so requests under way, and goes on by itself where an object is read from front to back. Null
/// will do.
template <class T>
inline void prefetch_object(const T* object) noexcept {
    constexpr std::size_t asked = std::min(sizeof(T), 4 * cache_line_bytes);
    const auto* const bytes = reinterpret_cast<const char*>(object);
    for (std::size_t at = 0; at < asked; at += cache_line_bytes) prefetch_for_read(bytes + at);
}

/// Whether a line that other cores have only read is far dearer to write than one that a core has
/// written. So it is with AMD's processors, where asking ahead does not help. Constant time.
[[nodiscard]] inline bool reading_delays_writers() noexcept {
#if defined(__x86_64__)
    return __builtin_cpu_is("amd") != 0;
#else
    return false;
#endif
}

/// Makes this core the owner of the lines of [first, first + bytes), for `first` at the beginning
/// of a line: writes to one byte in 64, from the first on. What stood there must be of no use any
/// more.
inline void own_lines(std::byte* first, std::size_t bytes) noexcept {
    for (std::size_t at = 0; at < bytes; at += cache_line_bytes) {
        static_cast<volatile std::byte*>(first)[at] = std::byte{0};
    }
}

}  // namespace strid
