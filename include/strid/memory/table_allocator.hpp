// SPDX-License-Identifier: Apache-2.0
//
// The memory of tables that are searched at random: whole cache lines, and huge pages from some
// megabytes on, where the system has them. A search in a tree of 80 MB touches a page for each
// level, and the processor's translation buffer (TLB) holds about a thousand small pages.
//
// Threads: stateless, any thread. Invariant: all allocators are equal.
#pragma once

#include <cstddef>
#include <limits>
#include <new>

#include <strid/engine/base/cache_line.hpp>

namespace strid::memory {

/// Memory of `bytes`, aligned to a cache line, or to a huge page if it is larger than two huge
/// pages. Throws std::bad_alloc.
[[nodiscard]] void* allocate_table(std::size_t bytes);
/// Frees what allocate_table() returned for the same `bytes`.
void free_table(void* memory, std::size_t bytes) noexcept;

/// The same as an allocator of the standard library, for types aligned to a cache line at most.
template <class T>
class TableAllocator {
  public:
    /// The type of the objects.
    using value_type = T;

    TableAllocator() = default;
    /// All are equal.
    template <class Other>
    TableAllocator(const TableAllocator<Other>&) noexcept {}  // NOLINT: implicit by intent

    /// Memory for `count` objects. Throws std::bad_alloc.
    [[nodiscard]] T* allocate(std::size_t count) {
        static_assert(alignof(T) <= cache_line_bytes);
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
            throw std::bad_array_new_length{};
        }
        return static_cast<T*>(allocate_table(count * sizeof(T)));
    }
    /// Frees what allocate() returned for the same `count`.
    void deallocate(T* memory, std::size_t count) noexcept {
        free_table(memory, count * sizeof(T));
    }
    friend bool operator==(const TableAllocator&, const TableAllocator&) noexcept { return true; }
};

}  // namespace strid::memory
