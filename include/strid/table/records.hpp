// SPDX-License-Identifier: Apache-2.0
//
// Records of a compiled program as chunks of a table, and back:
//
//     const auto schema = table::schema_of<Trade>({"symbol", "price"});
//     std::move(trades).apply(table::to_chunks<Trade>(schema))
//         .apply(table::step(table::filter(table::parse_expression(text), schema)))
//         .apply(table::to_records<Trade>(schema))
//
// The fields of a record are those that csv_file reads (connector/fields.hpp): booleans, integers
// and enumerations, floating point, std::string, EventTime, Duration, and std::optional of these,
// whose empty value is NULL. A chunk has the records that arrived together: none waits for others.
//
// Threads: those of an operator.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>
#include <strid/connector/fields.hpp>
#include <strid/operator/contract.hpp>
#include <strid/table/chunk.hpp>
#include <strid/table/schema.hpp>

namespace strid::table {

namespace detail {

template <class F>
consteval Kind kind_of_field() {
    if constexpr (strid::detail::is_optional<F>) {
        return kind_of_field<typename F::value_type>();
    } else if constexpr (std::same_as<F, bool>) {
        return Kind::boolean;
    } else if constexpr (std::is_enum_v<F> || std::integral<F>) {
        static_assert(sizeof(F) < 8 || std::is_enum_v<F> || std::is_signed_v<F>,
                      "a column has no integers beyond int64: use std::int64_t");
        return Kind::int64;
    } else if constexpr (std::floating_point<F>) {
        return Kind::float64;
    } else if constexpr (std::same_as<F, EventTime>) {
        return Kind::time;
    } else if constexpr (std::same_as<F, Duration>) {
        return Kind::interval;
    } else {
        static_assert(std::same_as<F, std::string> || std::same_as<F, std::string_view>,
                      "a field of a table is a number, an enumeration, text, EventTime, Duration, "
                      "or std::optional of one of these");
        return Kind::text;
    }
}

/// Throws GraphError unless there are as many names as fields.
[[nodiscard]] Schema schema_of_fields(const std::vector<std::string>& names,
                                      const std::vector<Kind>& kinds);
/// Throws GraphError unless the kinds of the columns are those of the fields.
void check_fields(const Schema& schema, const std::vector<Kind>& kinds);
/// Throws Error: a field has no place for a NULL, or for a number so large.
[[noreturn]] void refuse_value(const Schema& schema, std::size_t column, std::size_t row,
                               const char* reason);

template <class T>
std::vector<Kind> kinds_of() {
    std::vector<Kind> kinds;
    T record{};
    strid::detail::visit_fields(record, [&kinds]<class F>(std::size_t, F&) {
        kinds.push_back(kind_of_field<F>());
        return true;
    });
    return kinds;
}

/// Bytes of a text, if it is one.
template <class F>
[[nodiscard]] std::size_t text_bytes_of(const F& field) {
    if constexpr (kind_of_field<F>() != Kind::text) {
        return 0;
    } else if constexpr (strid::detail::is_optional<F>) {
        return field ? field->size() : 0;
    } else {
        return field.size();
    }
}

/// A text is copied to `texts`, which then is behind it.
template <class F>
void put_field(const F& field, Column& column, std::size_t row, char*& texts) {
    constexpr Kind kind = kind_of_field<F>();
    if constexpr (strid::detail::is_optional<F>) {
        using Value = typename F::value_type;
        // A NULL has a value that may be read.
        put_field(field ? *field : Value{}, column, row, texts);
        if (!field) column.set_null(row);
    } else if constexpr (kind == Kind::boolean) {
        column.values<std::uint8_t>()[row] = field ? 1 : 0;
    } else if constexpr (kind == Kind::float64) {
        column.values<double>()[row] = static_cast<double>(field);
    } else if constexpr (kind == Kind::text) {
        column.values<std::string_view>()[row] = {texts, field.size()};
        texts = std::copy(field.begin(), field.end(), texts);
    } else if constexpr (kind == Kind::time) {
        column.values<std::int64_t>()[row] = field.ns();
    } else if constexpr (kind == Kind::interval) {
        column.values<std::int64_t>()[row] = field.count();
    } else {
        column.values<std::int64_t>()[row] = static_cast<std::int64_t>(field);
    }
}

/// False: the value does not fit.
template <class F>
[[nodiscard]] bool take_field(F& field, const Column& column, std::size_t row) {
    constexpr Kind kind = kind_of_field<F>();
    if constexpr (strid::detail::is_optional<F>) {
        return take_field(field.emplace(), column, row);
    } else if constexpr (kind == Kind::boolean) {
        field = column.values<std::uint8_t>()[row] != 0;
    } else if constexpr (kind == Kind::float64) {
        field = static_cast<F>(column.values<double>()[row]);
    } else if constexpr (kind == Kind::text) {
        field = column.values<std::string_view>()[row];
    } else if constexpr (kind == Kind::time) {
        field = EventTime::of_ns(column.values<std::int64_t>()[row]);
    } else if constexpr (kind == Kind::interval) {
        field = Duration{column.values<std::int64_t>()[row]};
    } else {
        const std::int64_t value = column.values<std::int64_t>()[row];
        field = static_cast<F>(value);
        return static_cast<std::int64_t>(field) == value;
    }
    return true;
}

}  // namespace detail

/// The columns of records of type T, with these names in the order of the fields. Throws GraphError
/// for another number of names.
template <class T>
[[nodiscard]] Schema schema_of(const std::vector<std::string>& names) {
    return detail::schema_of_fields(names, detail::kinds_of<T>());
}

/// The operator that `to_chunks` makes.
template <class T>
class ToChunks : public OperatorTypes<T, Chunk> {
  public:
    static constexpr OperatorTraits traits{.kind = "to-chunks",
                                           .emits = Emits::any_number,
                                           .hears = events<Coming<T>>,
                                           .only_reads = true,
                                           .forgets_input = true,
                                           .takes_batches = true,
                                           .stateless = true};

    /// As to_chunks().
    explicit ToChunks(Schema schema) : schema_(std::move(schema)) {
        detail::check_fields(schema_, detail::kinds_of<T>());
    }
    /// Another replica.
    ToChunks(const ToChunks& other) : schema_(other.schema_) {}
    ToChunks& operator=(const ToChunks&) = delete;
    ~ToChunks() = default;

    std::size_t on(Coming<T> coming) {
        const std::size_t rows = std::min(coming.records.size(), chunk_rows_max);
        chunk_ = Chunk(schema_, memory_, rows);
        left_ = rows;
        return rows;
    }
    /// The last of the records that come together sends the chunk.
    void process(const T& record, auto& emit) {
        std::size_t text_bytes = 0;
        strid::detail::visit_fields(record, [&](std::size_t, const auto& field) {
            text_bytes += detail::text_bytes_of(field);
            return true;
        });
        // The texts of a row lie in one arena.
        char* texts = texts_.room(text_bytes);
        if (!chunk_.hold(texts_.block())) {
            emit(std::exchange(chunk_, Chunk(schema_, memory_, left_)));
            (void)chunk_.hold(texts_.block());
        }
        const std::size_t row = chunk_.rows();
        strid::detail::visit_fields(record, [&](std::size_t place, const auto& field) {
            detail::put_field(field, chunk_.column(place), row, texts);
            return true;
        });
        chunk_.set_rows(row + 1);
        if (--left_ == 0) emit(std::exchange(chunk_, Chunk{}));
    }

  private:
    Schema schema_;
    ChunkMemory memory_;
    TextWriter texts_{memory_};
    Chunk chunk_;
    std::size_t left_ = 0;  // of the records that come together
};

/// The operator that `to_records` makes.
template <class T>
class ToRecords : public OperatorTypes<Chunk, T> {
  public:
    static constexpr OperatorTraits traits{.kind = "to-records",
                                           .emits = Emits::any_number,
                                           .hears = events<>,
                                           .only_reads = true,
                                           .forgets_input = true,
                                           .stateless = true};

    /// As to_records().
    explicit ToRecords(Schema schema) : schema_(std::move(schema)) {
        static_assert(!strid::detail::holds_text<T>,
                      "a record of a chunk owns its text: std::string in place of "
                      "std::string_view");
        detail::check_fields(schema_, detail::kinds_of<T>());
    }

    /// Emits a record for each row. Throws Error for a value that its field has no place for.
    void process(const Chunk& chunk, auto& emit) {
        for (std::size_t row = 0; row != chunk.rows(); ++row) {
            T record{};
            strid::detail::visit_fields(record, [&]<class F>(std::size_t place, F& field) {
                const Column& column = chunk.column(place);
                if (column.is_null(row)) {
                    if constexpr (strid::detail::is_optional<F>) return true;
                    detail::refuse_value(schema_, place, row, "is NULL, and its field no optional");
                }
                if (!detail::take_field(field, column, row)) {
                    detail::refuse_value(schema_, place, row, "does not fit its field");
                }
                return true;
            });
            emit(std::move(record));
        }
    }

  private:
    Schema schema_;
};

/// Records as chunks of this schema. Throws GraphError unless its columns have the kinds of the
/// fields, in their order.
template <class T>
[[nodiscard]] ToChunks<T> to_chunks(Schema schema) {
    return ToChunks<T>(std::move(schema));
}
/// Chunks of this schema as records. Throws GraphError unless its columns have the kinds of the
/// fields, in their order.
template <class T>
[[nodiscard]] ToRecords<T> to_records(Schema schema) {
    return ToRecords<T>(std::move(schema));
}

}  // namespace strid::table
