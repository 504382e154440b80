// SPDX-License-Identifier: Apache-2.0
//
// The memory of values that are kept so that quantiles are exact (window/aggregates/t_digest.hpp).
// All such lists of a process together have a bound. A list asks before it grows; where the bound
// is reached, it becomes a sketch.
//
// Threads: any. The bound is not strict: lists that ask at the same time may all grow.
#pragma once

#include <atomic>
#include <cstddef>

#include <strid/memory/recycling.hpp>

namespace strid::window {

/// All exact values of the process together take about so many bytes at most. Lists below
/// `exact_memory_free` are not counted.
inline constexpr std::size_t exact_memory_max = std::size_t{256} << 20;
/// A list up to this size always has its memory.
inline constexpr std::size_t exact_memory_free = std::size_t{8} << 10;

namespace detail {

// Relaxed everywhere: it orders nothing.
inline constinit std::atomic<std::size_t> exact_memory_used{0};

}  // namespace detail

/// Whether a list may have so many bytes.
[[nodiscard]] inline bool has_exact_memory(std::size_t bytes) noexcept {
    return bytes <= exact_memory_free ||
           detail::exact_memory_used.load(std::memory_order_relaxed) + bytes <= exact_memory_max;
}

/// As memory::RecyclingAllocator; what it has given out is counted.
template <class T>
struct ExactValueAllocator {
    /// The type of the objects.
    using value_type = T;

    ExactValueAllocator() = default;
    /// All are equal.
    template <class U>
    ExactValueAllocator(const ExactValueAllocator<U>&) noexcept {}

    /// Memory for `count` objects. Throws std::bad_alloc.
    [[nodiscard]] T* allocate(std::size_t count) {
        T* const piece = memory::RecyclingAllocator<T>{}.allocate(count);
        if (is_counted(count)) {
            detail::exact_memory_used.fetch_add(count * sizeof(T), std::memory_order_relaxed);
        }
        return piece;
    }
    /// Any thread.
    void deallocate(T* piece, std::size_t count) noexcept {
        if (is_counted(count)) {
            detail::exact_memory_used.fetch_sub(count * sizeof(T), std::memory_order_relaxed);
        }
        memory::RecyclingAllocator<T>{}.deallocate(piece, count);
    }

    /// Always.
    template <class U>
    bool operator==(const ExactValueAllocator<U>&) const noexcept {
        return true;
    }

  private:
    static bool is_counted(std::size_t count) noexcept {
        return count * sizeof(T) > exact_memory_free;
    }
};

}  // namespace strid::window
