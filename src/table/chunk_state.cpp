// SPDX-License-Identifier: Apache-2.0
//
// A chunk as bytes: its schema, the number of rows, and for each column the bits of its values,
// where some are NULL, and the values. A NULL is stored as 0 or as an empty text. Then follow the
// watermarks of the rows, where there are some.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/state/codec.hpp>
#include <strid/table/chunk.hpp>

#include "bits.hpp"
#include "decimal.hpp"

namespace strid::table {

namespace {

using Length = std::uint32_t;
/// A name of a byte with its length, a kind and a scale.
constexpr std::size_t least_field_bytes = sizeof(std::uint64_t) + 3;

void save_schema(StateWriter& writer, const Schema& schema) {
    writer.length(schema.size());
    for (const Field& field : schema.fields()) {
        writer.text(field.name);
        state::save(writer, field.type.kind);
        state::save(writer, field.type.scale);
    }
}

Schema load_schema(StateReader& reader) {
    std::vector<Field> fields(reader.length(least_field_bytes));
    for (Field& field : fields) {
        field.name = reader.text();
        state::load(reader, field.type.kind);
        state::load(reader, field.type.scale);
        if (static_cast<std::size_t>(field.type.kind) >= kinds) {
            reader.refuse("is no kind of column");
        }
    }
    try {
        return Schema(std::move(fields));
    } catch (const GraphError& error) {
        reader.refuse(error.what());
    }
}

template <class T>
void save_values(StateWriter& writer, const Column& column, std::size_t rows) {
    if (!column.has_nulls()) {
        writer.bytes(std::as_bytes(std::span(column.values<T>(), rows)));
        return;
    }
    std::array<T, chunk_rows_max> values;
    for (std::size_t i = 0; i != rows; ++i) {
        values[i] = column.is_null(i) ? T{} : column.values<T>()[i];
    }
    writer.bytes(std::as_bytes(std::span(values.data(), rows)));
}

std::string_view text_at(const Column& column, std::size_t row) {
    return column.is_null(row) ? std::string_view{} : column.values<std::string_view>()[row];
}

void save_texts(StateWriter& writer, const Column& column, std::size_t rows) {
    std::array<Length, chunk_rows_max> lengths;
    for (std::size_t i = 0; i != rows; ++i) {
        const std::size_t size = text_at(column, i).size();
        if (size > std::numeric_limits<Length>::max()) {
            throw StateError("a text of a chunk has 4 GiB or more");
        }
        lengths[i] = static_cast<Length>(size);
    }
    writer.bytes(std::as_bytes(std::span(lengths.data(), rows)));
    for (std::size_t i = 0; i != rows; ++i) {
        writer.bytes(std::as_bytes(std::span(text_at(column, i))));
    }
}

/// Texts are copied to one arena, which the chunk holds.
memory::TextReference load_texts(StateReader& reader, Column& column, std::size_t rows,
                                 ChunkMemory& memory) {
    std::array<Length, chunk_rows_max> lengths;
    const auto stored = reader.bytes(rows * sizeof(Length));
    if (rows != 0) std::memcpy(lengths.data(), stored.data(), stored.size());
    std::size_t all = 0;
    for (std::size_t i = 0; i != rows; ++i) all += lengths[i];
    const auto bytes = reader.bytes(all);
    TextWriter texts(memory);
    const std::string_view copied =
        texts.copy({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    std::size_t at = 0;
    for (std::size_t i = 0; i != rows; ++i) {
        column.values<std::string_view>()[i] = copied.substr(at, lengths[i]);
        at += lengths[i];
    }
    return texts.block();
}

void check_values(StateReader& reader, const Column& column, Kind kind, std::size_t rows) {
    const auto all_of = [&](const auto* values, auto is_one) {
        if (!std::all_of(values, values + rows, is_one)) {
            reader.refuse("is no value of its column");
        }
    };
    if (kind == Kind::boolean) {
        all_of(column.values<std::uint8_t>(), [](std::uint8_t value) { return value < 2; });
    } else if (kind == Kind::decimal) {
        all_of(column.values<std::int64_t>(), [](std::int64_t value) { return is_decimal(value); });
    }
}

void load_bits(StateReader& reader, Column& column, std::size_t rows) {
    if (reader.choice(2) == 0) return;
    const auto bits = reader.bytes(words_for(rows) * sizeof(std::uint64_t));
    if (rows == 0) return;
    std::memcpy(column.validity(), bits.data(), bits.size());
    if ((column.validity()[words_for(rows) - 1] & ~last_word(rows)) != 0) {
        reader.refuse("has more values than rows");
    }
    column.set_nulls(true);
}

}  // namespace

void Chunk::save(StateWriter& writer) const {
    save_schema(writer, schema_);
    writer.number(rows_);
    for (std::size_t i = 0; i != columns_.size(); ++i) {
        const Column& column = columns_[i];
        writer.length(column.has_nulls() ? 1 : 0);
        if (column.has_nulls() && rows_ != 0) {
            Bits bits{};
            std::copy_n(column.validity(), words_for(rows_), bits.begin());
            bits[words_for(rows_) - 1] &= last_word(rows_);
            writer.bytes(std::as_bytes(std::span(bits.data(), words_for(rows_))));
        }
        switch (schema_[i].type.kind) {
            case Kind::boolean:
                save_values<std::uint8_t>(writer, column, rows_);
                break;
            case Kind::text:
                save_texts(writer, column, rows_);
                break;
            default:
                save_values<std::int64_t>(writer, column, rows_);
        }
    }
    const bool has_watermarks = watermarks_.capacity() != 0;
    writer.length(has_watermarks ? 1 : 0);
    if (has_watermarks) save_values<std::int64_t>(writer, watermarks_, rows_);
}

void Chunk::load(StateReader& reader) {
    *this = Chunk{};
    const Schema schema = load_schema(reader);
    const std::size_t rows = reader.choice(chunk_rows_max + 1);
    ChunkMemory memory(1);  // the blocks live on without it
    Chunk loaded(schema, std::size_t{0}, rows);
    std::vector<memory::TextReference> texts;
    bool holds_all = true;
    for (const Field& field : schema.fields()) {
        // A column has bytes for its rows before it gets a block.
        const std::size_t least = field.type.kind == Kind::boolean ? 1 : sizeof(Length);
        if (rows * least > reader.left()) reader.refuse("is cut");
        Column column = memory.column(field.type.kind, rows);
        load_bits(reader, column, rows);
        if (field.type.kind == Kind::text) {
            texts.push_back(load_texts(reader, column, rows, memory));
            holds_all = holds_all && loaded.hold(texts.back());
        } else {
            const auto values = reader.bytes(rows * value_bytes(field.type.kind));
            if (rows != 0) std::memcpy(column.values<char>(), values.data(), values.size());
            check_values(reader, column, field.type.kind, rows);
        }
        loaded.columns_.push_back(std::move(column));
    }
    if (reader.choice(2) == 1) {
        const auto values = reader.bytes(rows * sizeof(std::int64_t));
        Column watermarks = memory.column(Kind::time, rows);
        if (rows != 0) std::memcpy(watermarks.values<char>(), values.data(), values.size());
        loaded.set_watermarks(std::move(watermarks));
    }
    *this = holds_all ? std::move(loaded) : loaded.copied(memory);
}

}  // namespace strid::table
