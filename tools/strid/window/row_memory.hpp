// SPDX-License-Identifier: Apache-2.0
//
// The memory of rows that a source has read: the values of each, and the texts that do not stand in
// the input as they are. Rows lie one behind the other in pieces. A batch keeps alive the piece of
// its rows, and this object the chunk of the input that the rows of the piece point into, for as
// long as any batch keeps the piece.
//
// Threads: the source's only. References to pieces may be copied and dropped by any thread.
// Invariant: behind row() there is room for the values of a row.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <strid/memory/text_arena.hpp>

#include "table_row.hpp"

namespace strid::tool {

class RowMemory {
  public:
    explicit RowMemory(std::size_t fields) noexcept : row_bytes_(fields * sizeof(TableField)) {}
    /// A copy is another source's: it has no rows.
    RowMemory(const RowMemory& other) noexcept : row_bytes_(other.row_bytes_) {}
    RowMemory(RowMemory&&) noexcept = default;
    RowMemory& operator=(const RowMemory&) = delete;
    RowMemory& operator=(RowMemory&&) noexcept = default;
    ~RowMemory() = default;

    /// The next rows point into this chunk.
    void point_into(const memory::TextReference& chunk) {
        if (now_.chunk != chunk) begin_piece(chunk, 0);
    }
    /// The values of the next row.
    [[nodiscard]] TableField* row() const noexcept { return reinterpret_cast<TableField*>(row_); }
    /// Memory behind the values of that row, for all of its texts: called once for a row, which it
    /// may move to another piece.
    [[nodiscard]] char* behind_row(std::size_t bytes);
    /// The row is emitted.
    void next_row() {
        row_ = free_;
        free_ += row_bytes_;
        if (free_ > end_) [[unlikely]]
            begin_piece(now_.chunk, 0);
    }

    /// The piece with the next row.
    [[nodiscard]] const memory::TextReference& piece() const noexcept { return now_.piece; }
    /// Whether there is another piece than at the last call.
    [[nodiscard]] bool take_change() noexcept { return std::exchange(has_changed_, false); }
    /// Lets go of the chunks whose rows cannot be read any more. O(pieces in use).
    void forget();
    /// The same, also of the chunk of the piece at hand: the next rows point into another.
    void rest();

  private:
    struct Piece {
        memory::TextReference piece;
        memory::TextReference chunk;
    };

    /// Goes on in a fresh piece, with the values of the row at hand and room for texts behind them.
    void begin_piece(const memory::TextReference& chunk, std::size_t text_bytes);

    std::size_t row_bytes_;
    char* row_ = nullptr;
    char* free_ = nullptr;  // behind the row at hand
    char* end_ = nullptr;
    bool has_changed_ = false;
    std::unique_ptr<memory::TextPool> pool_;  // none before the first row
    Piece now_;
    std::vector<Piece> before_;
};

}  // namespace strid::tool
