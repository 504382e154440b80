// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/table/chunk.hpp>

#include "bits.hpp"

namespace strid::table {

namespace {

constexpr std::size_t text_block_bytes = std::size_t{64} << 10;
constexpr std::size_t text_pool = 6;

/// Bits and values of a column, with room to align them.
constexpr std::size_t block_bytes(std::size_t value, std::size_t rows) noexcept {
    return 2 * cache_line_bytes + rows / 8 + rows * value;
}

template <class T>
void keep_values(T* to, const T* from, std::span<const std::uint16_t> rows) noexcept {
    for (std::size_t i = 0; i != rows.size(); ++i) to[i] = from[rows[i]];
}

/// In place or not: each row moves towards the front.
void keep_values(Kind kind, Column& to, const Column& from,
                 std::span<const std::uint16_t> rows) noexcept {
    if (kind == Kind::boolean) {
        keep_values(to.values<std::uint8_t>(), from.values<std::uint8_t>(), rows);
    } else if (kind == Kind::text) {
        keep_values(to.values<std::string_view>(), from.values<std::string_view>(), rows);
    } else {
        keep_values(to.values<std::int64_t>(), from.values<std::int64_t>(), rows);
    }
}

void keep_nulls(Column& to, const Column& from, std::span<const std::uint16_t> rows) noexcept {
    std::array<std::uint64_t, words_max> kept{};
    for (std::size_t i = 0; i != rows.size(); ++i) {
        kept[i / 64] |= static_cast<std::uint64_t>(!from.is_null(rows[i])) << (i % 64);
    }
    std::copy_n(kept.begin(), words_for(rows.size()), to.validity());
    to.set_nulls(!all_set(to.validity(), rows.size()));
}

/// The values and bits, in a block of `memory`; texts point to where they are.
Column copy_of(const Column& from, Kind kind, std::size_t rows, ChunkMemory& memory) {
    Column copy = memory.column(kind, rows);
    if (rows != 0) std::memcpy(copy.values<char>(), from.values<char>(), rows * value_bytes(kind));
    if (from.has_nulls()) {
        std::copy_n(from.validity(), words_for(rows), copy.validity());
        copy.set_nulls(true);
    }
    return copy;
}

}  // namespace

void Column::set_null(std::size_t row) noexcept {
    if (!has_nulls_) {
        std::fill_n(validity_, words_for(capacity_), ~std::uint64_t{0});
        has_nulls_ = true;
    }
    validity_[row / 64] &= ~(std::uint64_t{1} << (row % 64));
}

memory::TextReference ChunkMemory::lease(std::size_t size, std::size_t bytes) {
    auto& pool = pools_[size];
    if (!pool)
        pool = std::make_unique<memory::TextPool>(bytes, std::max<std::size_t>(blocks_max_, 1));
    auto block = pool->try_lease();
    return block ? block : pool->lease_large(bytes);
}

Column ChunkMemory::column(Kind kind, std::size_t rows) {
    STRID_ASSERT(rows <= chunk_rows_max);
    const bool is_small = rows <= small_rows_max;
    const std::size_t value = value_bytes(kind);
    const std::size_t capacity = is_small ? small_rows_max : chunk_rows_max;
    const std::size_t size = std::size_t{2} * (value > 1) + std::size_t{2} * (value > 8) + is_small;
    Column column;
    column.block_ = lease(size, block_bytes(value, capacity));
    const auto begin = reinterpret_cast<std::uintptr_t>(column.block_->bytes().data());
    const auto aligned = [](std::uintptr_t at) {
        return (at + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
    };
    const std::uintptr_t validity = aligned(begin);
    column.validity_ = reinterpret_cast<std::uint64_t*>(validity);
    column.values_ = reinterpret_cast<void*>(aligned(validity + capacity / 8));
    column.capacity_ = static_cast<std::uint16_t>(capacity);
    return column;
}

memory::TextReference ChunkMemory::text(std::size_t bytes) {
    if (bytes <= text_block_bytes) return lease(text_pool, text_block_bytes);
    auto& pool = pools_[text_pool];
    if (!pool) pool = std::make_unique<memory::TextPool>(text_block_bytes, blocks_max_);
    return pool->lease_large(bytes);
}

memory::PoolCounters ChunkMemory::counters() const noexcept {
    memory::PoolCounters all{};
    for (const auto& pool : pools_) {
        if (!pool) continue;
        const memory::PoolCounters one = pool->counters();
        all.leased += one.leased;
        all.returned += one.returned;
        all.misses += one.misses;
        all.debt += one.debt;
        all.high_water += one.high_water;
    }
    return all;
}

char* TextWriter::room(std::size_t bytes) {
    if (!block_ || block_->capacity() - used_ < bytes) {
        block_ = memory_->text(bytes);
        used_ = 0;
    }
    char* const at = block_->bytes().data() + used_;
    used_ += bytes;
    return at;
}

Chunk::Chunk(const Schema& schema, ChunkMemory& memory, std::size_t rows) : schema_(schema) {
    columns_.reserve(schema.size());
    for (const Field& field : schema.fields()) {
        columns_.push_back(memory.column(field.type.kind, rows));
    }
}

Chunk::Chunk(const Schema& schema, std::size_t columns, std::size_t rows)
    : schema_(schema), columns_(columns), rows_(static_cast<std::uint32_t>(rows)) {}

bool Chunk::hold(const memory::TextReference& text) noexcept {
    const auto end = texts_.begin() + text_count_;
    if (!text || std::find(texts_.begin(), end, text) != end) return true;
    if (text_count_ == chunk_texts_max) return false;
    texts_[text_count_++] = text;
    return true;
}

bool Chunk::hold_texts_of(const Chunk& other) noexcept {
    for (std::size_t i = 0; i != other.text_count_; ++i) {
        if (!hold(other.texts_[i])) return false;
    }
    return true;
}

void Chunk::keep_rows(std::span<const std::uint16_t> rows, ChunkMemory& memory) {
    if (rows.size() == rows_) return;
    const auto keep = [&](Kind kind, Column& column) {
        // Shared blocks stay as they are. Few rows do not keep a large block from other chunks.
        if (column.is_shared() || (rows.size() <= small_rows_max && rows_ > small_rows_max)) {
            Column fresh = memory.column(kind, rows.size());
            keep_values(kind, fresh, column, rows);
            if (column.has_nulls()) keep_nulls(fresh, column, rows);
            column = std::move(fresh);
        } else {
            keep_values(kind, column, column, rows);
            if (column.has_nulls()) keep_nulls(column, column, rows);
        }
    };
    for (std::size_t i = 0; i != columns_.size(); ++i) keep(schema_[i].type.kind, columns_[i]);
    if (watermarks_.capacity() != 0) keep(Kind::time, watermarks_);
    rows_ = static_cast<std::uint32_t>(rows.size());
}

void Chunk::fit(ChunkMemory& memory) {
    if (rows_ > small_rows_max) return;
    for (std::size_t i = 0; i != columns_.size(); ++i) {
        if (columns_[i].capacity() <= small_rows_max) continue;
        columns_[i] = copy_of(columns_[i], schema_[i].type.kind, rows_, memory);
    }
    if (watermarks_.capacity() > small_rows_max) {
        watermarks_ = copy_of(watermarks_, Kind::time, rows_, memory);
    }
}

void Chunk::keep_columns(const Schema& schema, std::span<const std::size_t> places) {
    decltype(columns_) kept;
    kept.reserve(places.size());
    for (const std::size_t place : places) kept.push_back(std::move(columns_[place]));
    columns_ = std::move(kept);
    schema_ = schema;
    const auto is_text = [](const Field& field) { return field.type.kind == Kind::text; };
    if (std::ranges::any_of(schema_.fields(), is_text)) return;
    texts_ = {};
    text_count_ = 0;
}

void Chunk::move_texts(TextWriter& texts) {
    std::size_t text_bytes = 0;
    for (std::size_t i = 0; i != columns_.size(); ++i) {
        if (schema_[i].type.kind != Kind::text) continue;
        const auto* const values = columns_[i].values<std::string_view>();
        for (std::size_t row = 0; row != rows_; ++row) {
            if (!columns_[i].is_null(row)) text_bytes += values[row].size();
        }
    }
    char* to = text_bytes == 0 ? nullptr : texts.room(text_bytes);
    for (std::size_t i = 0; i != columns_.size(); ++i) {
        if (schema_[i].type.kind != Kind::text) continue;
        auto* const values = columns_[i].values<std::string_view>();
        for (std::size_t row = 0; row != rows_; ++row) {
            const std::string_view text =
                columns_[i].is_null(row) ? std::string_view{} : values[row];
            std::copy(text.begin(), text.end(), to);
            values[row] = {to, text.size()};
            to += text.size();
        }
    }
    texts_ = {};
    text_count_ = 0;
    if (text_bytes != 0) (void)hold(texts.block());  // the only one
}

Chunk Chunk::copied(ChunkMemory& memory) const {
    Chunk copy(schema_, columns_.size(), rows_);
    for (std::size_t i = 0; i != columns_.size(); ++i) {
        copy.columns_[i] = copy_of(columns_[i], schema_[i].type.kind, rows_, memory);
    }
    if (watermarks_.capacity() != 0) {
        copy.watermarks_ = copy_of(watermarks_, Kind::time, rows_, memory);
    }
    TextWriter texts(memory);
    copy.move_texts(texts);
    return copy;
}

std::size_t Chunk::heap_bytes() const noexcept {
    std::size_t bytes = columns_.size() * sizeof(Column);
    for (const Column& column : columns_) bytes += column.bytes();
    bytes += watermarks_.bytes();
    for (std::size_t i = 0; i != text_count_; ++i) bytes += texts_[i]->capacity();
    return bytes;
}

}  // namespace strid::table
