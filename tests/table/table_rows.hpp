// SPDX-License-Identifier: Apache-2.0
//
// Random rows for tests of tables, row by row, as values that know nothing of chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include <strid/table/chunk.hpp>

namespace strid::table::test {

/// NULL, or a value of a column.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
using Row = std::vector<Value>;

/// The value in a chunk.
inline Value value_at(const Chunk& chunk, std::size_t column, std::size_t row) {
    const Column& values = chunk.column(column);
    if (values.is_null(row)) return {};
    switch (chunk.schema()[column].type.kind) {
        case Kind::boolean:
            return values.values<std::uint8_t>()[row] != 0;
        case Kind::float64:
            return values.values<double>()[row];
        case Kind::text:
            return std::string(values.values<std::string_view>()[row]);
        default:
            return values.values<std::int64_t>()[row];
    }
}
inline std::vector<Row> rows_of(const Chunk& chunk) {
    std::vector<Row> rows(chunk.rows());
    for (std::size_t row = 0; row != rows.size(); ++row) {
        for (std::size_t i = 0; i != chunk.schema().size(); ++i) {
            rows[row].push_back(value_at(chunk, i, row));
        }
    }
    return rows;
}
/// A chunk of these rows, in blocks of `memory`.
inline Chunk chunk_of(const Schema& schema, const std::vector<Row>& rows, ChunkMemory& memory) {
    Chunk chunk(schema, memory, rows.size());
    TextWriter texts(memory);
    for (std::size_t i = 0; i != schema.size(); ++i) {
        Column& column = chunk.column(i);
        for (std::size_t row = 0; row != rows.size(); ++row) {
            const Value& value = rows[row][i];
            if (schema[i].type.kind == Kind::text) {
                column.values<std::string_view>()[row] = {};
            } else if (schema[i].type.kind == Kind::boolean) {
                column.values<std::uint8_t>()[row] = 0;
            } else {
                column.values<std::int64_t>()[row] = 0;
            }
            if (std::holds_alternative<std::monostate>(value)) {
                column.set_null(row);
            } else if (const auto* truth = std::get_if<bool>(&value)) {
                column.values<std::uint8_t>()[row] = *truth ? 1 : 0;
            } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
                column.values<std::int64_t>()[row] = *integer;
            } else if (const auto* number = std::get_if<double>(&value)) {
                column.values<double>()[row] = *number;
            } else {
                column.values<std::string_view>()[row] = texts.copy(std::get<std::string>(value));
                if (!chunk.hold(texts.block())) throw std::logic_error("too many arenas");
            }
        }
    }
    chunk.set_rows(rows.size());
    return chunk;
}

/// A random value of the type; every `null_share`th is NULL, none if it is 0.
template <class Random>
Value random_value(Type type, Random& random, std::uint64_t null_share) {
    if (null_share != 0 && random() % null_share == 0) return {};
    switch (type.kind) {
        case Kind::boolean:
            return random() % 2 == 0;
        case Kind::float64:
            return static_cast<double>(static_cast<int>(random() % 2001) - 1000) / 8;
        case Kind::text: {
            std::string text;
            for (auto size = random() % 5; size != 0; --size) {
                text += static_cast<char>('a' + random() % 3);
            }
            return text;
        }
        default:
            return static_cast<std::int64_t>(random() % 201) - 100;
    }
}
template <class Random>
std::vector<Row> random_rows(const Schema& schema, std::size_t count, Random& random,
                             std::uint64_t null_share) {
    std::vector<Row> rows(count);
    for (Row& row : rows) {
        for (const Field& field : schema.fields()) {
            row.push_back(random_value(field.type, random, null_share));
        }
    }
    return rows;
}

}  // namespace strid::table::test
