// SPDX-License-Identifier: Apache-2.0
#include "arena.hpp"

#include <new>

#include <sys/mman.h>

namespace strid::compress {

namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
// From this size on a piece is worth a huge page.
constexpr std::size_t large_bytes = std::size_t{1} << 20;
// More pieces than a stream of either direction needs, of several levels.
constexpr std::size_t pieces_max = 16;

std::size_t rounded_up(std::size_t size, std::size_t unit) noexcept {
    return (size + unit - 1) / unit * unit;
}

}  // namespace

void* Arena::allocate(std::size_t size) noexcept {
    Piece* best = nullptr;
    for (Piece& piece : pieces_) {
        if (piece.used || piece.size < size) continue;
        if (best == nullptr || piece.size < best->size) best = &piece;
    }
    // A small request does not occupy a large piece, which the next one would have to replace.
    const bool fits = best != nullptr && (best->size < large_bytes || size >= large_bytes / 8);
    if (fits) {
        best->used = true;
        return best->memory.get();
    }
    const std::size_t unit = size < large_bytes ? 64 : huge_page_bytes;
    const std::size_t rounded = rounded_up(size, unit);
    std::unique_ptr<void, Free> memory(std::aligned_alloc(unit, rounded));
    if (!memory) return nullptr;
    if (unit == huge_page_bytes) ::madvise(memory.get(), rounded, MADV_HUGEPAGE);
    try {
        if (pieces_.size() >= pieces_max) {
            std::erase_if(pieces_, [](const Piece& piece) { return !piece.used; });
        }
        pieces_.push_back({std::move(memory), rounded, true});
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    return pieces_.back().memory.get();
}

void Arena::release(void* released) noexcept {
    for (Piece& piece : pieces_) {
        if (piece.memory.get() == released) piece.used = false;
    }
}

}  // namespace strid::compress
