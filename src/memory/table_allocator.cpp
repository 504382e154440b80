// SPDX-License-Identifier: Apache-2.0
//
// Allocates the memory of tables.
#include <sys/mman.h>

#include <strid/engine/base/cache_line.hpp>
#include <strid/memory/table_allocator.hpp>

namespace strid::memory {

namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

std::align_val_t alignment_of(std::size_t bytes) noexcept {
    return std::align_val_t{bytes > 2 * huge_page_bytes ? huge_page_bytes : cache_line_bytes};
}

}  // namespace

void* allocate_table(std::size_t bytes) {
    if (bytes <= 2 * huge_page_bytes) return ::operator new(bytes, alignment_of(bytes));
    // Up to the end of the last page, which is then a huge one, too.
    const std::size_t whole = (bytes + huge_page_bytes - 1) & ~(huge_page_bytes - 1);
    if (whole < bytes) throw std::bad_alloc{};
    void* const memory = ::operator new(whole, alignment_of(bytes));
    (void)::madvise(memory, whole, MADV_HUGEPAGE);  // a hint: small pages are allowed
    return memory;
}

void free_table(void* memory, std::size_t bytes) noexcept {
    ::operator delete(memory, alignment_of(bytes));
}

}  // namespace strid::memory
