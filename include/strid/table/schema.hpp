// SPDX-License-Identifier: Apache-2.0
//
// The columns of a table: their names and types, in order. Plain values; a schema is shared by the
// chunks that have it, and never changes. Any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strid::table {

/// The kinds of values that a column may have.
enum class Kind : std::uint8_t {
    boolean,  ///< A byte, 0 or 1.
    int64,    ///< A signed integer of 64 bits.
    float64,  ///< A double.
    decimal,  ///< A whole number of units of 10^-scale, of at most 18 digits.
    text,     ///< Bytes; compared as such.
    time,     ///< A point in time: nanoseconds since 1970 in UTC.
    interval  ///< A length of time in nanoseconds.
};
/// How many kinds there are.
inline constexpr std::size_t kinds = 7;

/// The type of a column, or of an expression.
struct Type {
    Kind kind = Kind::int64;  ///< Of its values.
    std::uint8_t scale = 0;   ///< Of a decimal, the digits behind the point: 0 to 18.

    bool operator==(const Type&) const = default;
};
/// The most digits of a decimal.
inline constexpr std::uint8_t decimal_digits = 18;

/// As expressions and messages write it: `int64`, `decimal(2)`.
[[nodiscard]] std::string name_of(Type type);
/// The type that a text names: a name as above, or the SQL name `integer`, `bigint`, `double`,
/// `varchar`, `timestamp` and the like. Empty: none.
[[nodiscard]] std::optional<Type> type_named(std::string_view name);
/// Bytes of one value in a column.
[[nodiscard]] constexpr std::size_t value_bytes(Kind kind) noexcept {
    if (kind == Kind::boolean) return 1;
    return kind == Kind::text ? sizeof(std::string_view) : sizeof(std::int64_t);
}

/// A column of a schema.
struct Field {
    std::string name;  ///< Not empty, and of no other column of the schema.
    Type type;         ///< Of its values.

    bool operator==(const Field&) const = default;
};

/// Named columns in order. Copies share the fields.
class Schema {
  public:
    /// No columns.
    Schema() = default;
    /// Throws GraphError for a name that is empty or there twice, and for a decimal with a scale
    /// beyond 18. O(columns log(columns)).
    explicit Schema(std::vector<Field> fields);

    /// The columns.
    [[nodiscard]] std::span<const Field> fields() const& noexcept {
        return columns_ ? std::span<const Field>(columns_->fields) : std::span<const Field>{};
    }
    /// They would not outlive the schema.
    std::span<const Field> fields() const&& = delete;
    /// How many columns there are.
    [[nodiscard]] std::size_t size() const noexcept {
        return columns_ ? columns_->fields.size() : 0;
    }
    /// A column by its place from 0, which must be there.
    [[nodiscard]] const Field& operator[](std::size_t column) const noexcept {
        return columns_->fields[column];
    }
    /// The place of the column of this name, if there is one. O(log(columns)).
    [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;
    /// As find(); throws GraphError where there is none, with the names that there are.
    [[nodiscard]] std::size_t place_of(std::string_view name) const;
    /// `price float64, symbol text`.
    [[nodiscard]] std::string text() const;

    /// Whether names and types are the same, in the same order.
    friend bool operator==(const Schema& one, const Schema& other) noexcept {
        return one.columns_ == other.columns_ || std::ranges::equal(one.fields(), other.fields());
    }

  private:
    struct Columns {
        std::vector<Field> fields;
        std::vector<std::uint32_t> by_name;  // their places
    };
    std::shared_ptr<const Columns> columns_;
};

}  // namespace strid::table
