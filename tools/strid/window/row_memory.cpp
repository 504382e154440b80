// SPDX-License-Identifier: Apache-2.0
#include "row_memory.hpp"

#include <algorithm>
#include <cstring>

namespace strid::tool {

namespace {

constexpr std::size_t piece_bytes = std::size_t{64} << 10;
/// As many as the chunks of an input that may be in use, several times over: more are one-off.
constexpr std::size_t pieces_max = 1'024;

constexpr std::size_t aligned(std::size_t bytes) noexcept {
    return (bytes + alignof(TableField) - 1) / alignof(TableField) * alignof(TableField);
}

}  // namespace

char* RowMemory::behind_row(std::size_t bytes) {
    const std::size_t needed = aligned(bytes);
    if (static_cast<std::size_t>(end_ - free_) < needed) begin_piece(now_.chunk, needed);
    return std::exchange(free_, free_ + needed);
}

void RowMemory::begin_piece(const memory::TextReference& chunk, std::size_t text_bytes) {
    if (!pool_) pool_ = std::make_unique<memory::TextPool>(piece_bytes, pieces_max);
    const std::size_t needed = row_bytes_ + text_bytes;
    auto piece = needed <= piece_bytes ? pool_->try_lease() : memory::TextReference{};
    if (!piece) piece = pool_->lease_large(std::max(needed, piece_bytes));
    char* const begin = piece->bytes().data();
    if (text_bytes != 0 && row_bytes_ != 0) std::memcpy(begin, row_, row_bytes_);
    Piece fresh{std::move(piece), chunk};
    std::swap(now_, fresh);
    if (fresh.piece.use_count() > 1) before_.push_back(std::move(fresh));
    row_ = begin;
    free_ = begin + row_bytes_;
    end_ = begin + now_.piece->capacity();
    has_changed_ = true;
}

void RowMemory::forget() {
    std::erase_if(before_, [](const Piece& one) { return one.piece.use_count() == 1; });
}

void RowMemory::rest() {
    forget();
    if (now_.piece.use_count() == 1) now_.chunk.reset();
}

}  // namespace strid::tool
