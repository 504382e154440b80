// SPDX-License-Identifier: Apache-2.0
//
// Cache lines that move between cores: fetching them ahead, and leaving them to the core that
// writes them next (docs/design/0008). Stateless; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <strid/engine/base/cache_line.hpp>

namespace strid {

/// Fetches the line that lies `bytes_ahead` behind `from`, in order to write it. If another core
/// has read the line, it must first be taken from that core, which costs some hundred cycles;
/// fetched ahead, the line arrives in time. Any address is allowed: the hint never faults.
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

/// Fetches the line at `address` in order to read it. Any address is allowed.
inline void prefetch_for_read(const void* address) noexcept {
#if defined(__x86_64__)
    // The compiler does not count __builtin_prefetch as an effect, and may remove the call of a
    // function that only looks up an address and fetches it.
    asm volatile("prefetcht0 (%0)" : : "r"(address));
#else
    __builtin_prefetch(address);
#endif
}

/// Fetches the first lines, four at most, of an object that will be read. The processor has about
/// ten requests under way at once, and continues by itself when an object is read from front to
/// back. Null is allowed.
template <class T>
inline void prefetch_object(const T* object) noexcept {
    constexpr std::size_t asked = std::min(sizeof(T), 4 * cache_line_bytes);
    const auto* const bytes = reinterpret_cast<const char*>(object);
    for (std::size_t at = 0; at < asked; at += cache_line_bytes) prefetch_for_read(bytes + at);
}

/// Whether a line that other cores have only read is far more expensive to write than one that a
/// core has written. This is so on AMD's processors, where fetching ahead does not help. Constant
/// time.
[[nodiscard]] inline bool reading_delays_writers() noexcept {
#if defined(__x86_64__)
    return __builtin_cpu_is("amd") != 0;
#else
    return false;
#endif
}

/// Makes this core the owner of the lines of [first, first + bytes), for `first` at the beginning
/// of a line: writes one byte in 64, from the first on. The old content is overwritten.
inline void reclaim_lines(std::byte* first, std::size_t bytes) noexcept {
    for (std::size_t at = 0; at < bytes; at += cache_line_bytes) {
        static_cast<volatile std::byte*>(first)[at] = std::byte{0};
    }
}

}  // namespace strid
