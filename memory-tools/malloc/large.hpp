// SPDX-License-Identifier: Apache-2.0
//
// Blocks that are in no slab: large ones, which are units of a region, and huge ones, which have
// their own mappings. Any thread.
#pragma once

#include <cstddef>

namespace strid::slab_malloc {

/// Above small_bytes_max, or of great alignment (a power of two). `zero` asks for bytes that are 0.
/// Null: no memory.
[[nodiscard]] void* allocate_large(std::size_t bytes, std::size_t alignment, bool zero) noexcept;

void release_large(void* memory) noexcept;
void release_huge(void* memory) noexcept;

[[nodiscard]] std::size_t huge_bytes(const void* memory) noexcept;

/// Resizes the block in place or, if it is huge, by moving its pages; null if it must be copied.
[[nodiscard]] void* resize_large(void* memory, std::size_t bytes) noexcept;

}  // namespace strid::slab_malloc
