// SPDX-License-Identifier: Apache-2.0
//
// Rows by columns: at most 2,048 rows whose values of a column lie one behind the other. A chunk is
// the record of a `Stream<Chunk>`.
//
// Memory. A column is a block of a pool (ChunkMemory): a bit for each row, clear where the value is
// NULL, and the values. Texts are views; the chunk holds the arenas, or the text of the input, that
// they point into. A copy of a chunk shares its blocks with it, and so does a chunk that was
// derived from it where a column stays as it is: shared blocks are not changed any more
// (`Column::is_shared`). The last reference sends a block home to the pool that it is of.
//
// Threads: a chunk is used by one thread at a time, and may be handed to another; blocks go home
// from any. A ChunkMemory belongs to one thread at a time, and may go before its blocks do.
// Invariant: the value of a NULL means nothing, but may be read (a boolean is 0 or 1, a text is
// there); each text of a row lies in an arena that the chunk holds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <strid/memory/counters.hpp>
#include <strid/memory/recycling.hpp>
#include <strid/memory/text_arena.hpp>
#include <strid/state/bytes.hpp>
#include <strid/table/schema.hpp>

namespace strid::table {

/// The most rows of a chunk.
inline constexpr std::size_t chunk_rows_max = 2048;
/// So many rows have small blocks.
inline constexpr std::size_t small_rows_max = 64;
/// How many arenas the texts of a chunk may be in.
inline constexpr std::size_t chunk_texts_max = 8;

class ChunkMemory;

/// The values of a column of a chunk.
class Column {
  public:
    /// No block: of no rows.
    Column() = default;

    /// Room for how many rows.
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    /// The values; T is std::uint8_t (bool), std::int64_t, double or std::string_view.
    template <class T>
    [[nodiscard]] T* values() noexcept {
        return static_cast<T*>(values_);
    }
    /// For reading.
    template <class T>
    [[nodiscard]] const T* values() const noexcept {
        return static_cast<const T*>(values_);
    }
    /// Whether some value may be NULL.
    [[nodiscard]] bool has_nulls() const noexcept { return has_nulls_; }
    /// A bit for each row, set where there is a value; they count if has_nulls().
    [[nodiscard]] std::uint64_t* validity() noexcept { return validity_; }
    /// For reading.
    [[nodiscard]] const std::uint64_t* validity() const noexcept { return validity_; }
    /// Whether the value of the row is NULL.
    [[nodiscard]] bool is_null(std::size_t row) const noexcept {
        return has_nulls_ && (validity_[row / 64] >> (row % 64) & 1) == 0;
    }
    /// Makes the value of the row NULL. The first time O(capacity / 64).
    void set_null(std::size_t row) noexcept;
    /// From now on the bits of validity() count, or no value is NULL.
    void set_nulls(bool has_nulls) noexcept { has_nulls_ = has_nulls; }
    /// Whether another column has the same block, which must not be changed then.
    [[nodiscard]] bool is_shared() const noexcept { return block_.use_count() > 1; }
    /// Bytes of the block.
    [[nodiscard]] std::size_t bytes() const noexcept { return block_ ? block_->capacity() : 0; }

  private:
    friend class ChunkMemory;

    memory::TextReference block_;
    std::uint64_t* validity_ = nullptr;
    void* values_ = nullptr;
    std::uint16_t capacity_ = 0;
    bool has_nulls_ = false;
};

/// Where columns and texts of chunks get their blocks. A copy has blocks of its own.
class ChunkMemory {
  public:
    /// At most so many blocks of a size are kept for further chunks; those beyond it go back to the
    /// system when they are free, and are counted as debt.
    explicit ChunkMemory(std::size_t blocks_max = 512) : blocks_max_(blocks_max) {}
    /// With the same bound, and blocks of its own.
    ChunkMemory(const ChunkMemory& other) : blocks_max_(other.blocks_max_) {}
    ChunkMemory(ChunkMemory&&) noexcept = default;
    ChunkMemory& operator=(const ChunkMemory&) = delete;
    ChunkMemory& operator=(ChunkMemory&&) noexcept = default;
    ~ChunkMemory() = default;

    /// A column with room for so many rows, at most chunk_rows_max, without NULL; its values are
    /// not set. O(1). Throws std::bad_alloc.
    [[nodiscard]] Column column(Kind kind, std::size_t rows);
    /// Bytes for texts. O(1). Throws std::bad_alloc.
    [[nodiscard]] memory::TextReference text(std::size_t bytes);
    /// Added up over the sizes of blocks. Any thread.
    [[nodiscard]] memory::PoolCounters counters() const noexcept;

  private:
    /// By the bytes of a value (1, 8, 16) and the rows, and texts.
    static constexpr std::size_t sizes = 7;

    memory::TextReference lease(std::size_t size, std::size_t bytes);

    std::size_t blocks_max_;
    std::array<std::unique_ptr<memory::TextPool>, sizes> pools_;
};

/// Copies texts to where they stay, one behind the other, in blocks of a ChunkMemory.
class TextWriter {
  public:
    /// `memory` must outlive the writer.
    explicit TextWriter(ChunkMemory& memory) noexcept : memory_(&memory) {}
    /// A copy of the text, in block(). O(size). Throws std::bad_alloc.
    [[nodiscard]] std::string_view copy(std::string_view text) {
        char* const to = room(text.size());
        std::copy(text.begin(), text.end(), to);
        return {to, text.size()};
    }
    /// Room for a text of this size, in block().
    [[nodiscard]] char* room(std::size_t bytes);
    /// The arena that the text at hand lies in; another one has been begun if it is not as before.
    [[nodiscard]] const memory::TextReference& block() const noexcept { return block_; }

  private:
    ChunkMemory* memory_;
    memory::TextReference block_;
    std::size_t used_ = 0;
};

/// Rows of a table.
class Chunk {
  public:
    /// No columns and no rows.
    Chunk() = default;
    /// No rows yet, columns with room for so many. O(columns). Throws std::bad_alloc.
    Chunk(const Schema& schema, ChunkMemory& memory, std::size_t rows = chunk_rows_max);
    /// Columns that are there, one for each field of the schema, and so many rows.
    Chunk(const Schema& schema, std::size_t columns, std::size_t rows);

    /// The names and types of the columns.
    [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
    /// How many rows there are.
    [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
    /// Says how many rows there are; their values are set.
    void set_rows(std::size_t rows) noexcept { rows_ = static_cast<std::uint32_t>(rows); }
    /// A column by its place.
    [[nodiscard]] Column& column(std::size_t place) noexcept { return columns_[place]; }
    /// For reading.
    [[nodiscard]] const Column& column(std::size_t place) const noexcept { return columns_[place]; }
    /// For each row that lies behind the watermark that it met, that watermark; for the others the
    /// earliest time. Empty, of no capacity, where there are no such rows.
    [[nodiscard]] const Column& watermarks() const noexcept { return watermarks_; }
    /// A column of times with a value for each row, or an empty one.
    void set_watermarks(Column watermarks) noexcept { watermarks_ = std::move(watermarks); }
    /// Holds an arena of texts. False: it holds chunk_texts_max others already. O(1).
    [[nodiscard]] bool hold(const memory::TextReference& text) noexcept;
    /// Holds what the other holds. False as above, where the texts must be copied.
    [[nodiscard]] bool hold_texts_of(const Chunk& other) noexcept;

    /// Keeps the rows of this ascending list, and no others. Columns that are shared get blocks of
    /// `memory`. O(columns x rows kept).
    void keep_rows(std::span<const std::uint16_t> rows, ChunkMemory& memory);
    /// Keeps the columns at these places, in this order, as those of another schema; none is there
    /// twice. Without a column of texts it holds none. O(columns).
    void keep_columns(const Schema& schema, std::span<const std::size_t> places);
    /// Moves few rows from large blocks to small ones. O(columns x small_rows_max).
    void fit(ChunkMemory& memory);
    /// Moves the texts to one arena of the writer, and lets the others go. Columns of texts are not
    /// shared. O(bytes).
    void move_texts(TextWriter& texts);
    /// The same rows in blocks of `memory` alone, of a size that fits them, with copies of their
    /// texts: an operator that keeps chunks for long keeps such ones, or the arenas stay that a few
    /// of their texts are in. O(bytes).
    [[nodiscard]] Chunk copied(ChunkMemory& memory) const;

    /// Bytes that it holds beside itself; blocks and texts that others hold too count whole.
    [[nodiscard]] std::size_t heap_bytes() const noexcept;
    /// As strid/state/codec.hpp says: with the schema.
    void save(StateWriter& writer) const;
    /// Throws StateError for bytes that are no chunk.
    void load(StateReader& reader);

  private:
    Schema schema_;
    std::vector<Column, memory::RecyclingAllocator<Column>> columns_;
    Column watermarks_;
    std::array<memory::TextReference, chunk_texts_max> texts_;
    std::uint32_t rows_ = 0;
    std::uint32_t text_count_ = 0;
};

}  // namespace strid::table
