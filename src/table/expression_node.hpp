// SPDX-License-Identifier: Apache-2.0
//
// The tree of an expression, as it was built: without types. Never changed once it is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <strid/base/time.hpp>
#include <strid/table/expression.hpp>

namespace strid::table::detail {

enum class Operation : std::uint8_t {
    column,
    literal,
    add,
    subtract,
    multiply,
    divide,
    remainder,
    concat,
    equal,
    unequal,
    less,
    less_or_equal,
    greater,
    greater_or_equal,
    both,    // and
    either,  // or
    negation,
    is_null,
    is_not_null,
    case_when,  // condition, value, condition, value, ..., the other value
    coalesce,
    cast
};

struct DecimalValue {
    std::int64_t units;
    std::uint8_t scale;
};
struct NoValue {};  // NULL
using Literal = std::variant<NoValue, bool, std::int64_t, double, DecimalValue, std::string,
                             EventTime, Duration>;

struct ExpressionNode {
    Operation operation = Operation::literal;
    std::vector<Expression> parts;
    Literal value;           // of a literal
    std::string name;        // of a column
    Type type;               // of a cast
    std::size_t place = 0;   // in the text that it was read from, from 1; 0: it was not
    std::size_t levels = 1;  // of the tree
    std::size_t size = 0;    // of the tree, about as its text has bytes
};

/// Throws ExpressionError for too many levels, and for a tree that is too large.
[[nodiscard]] Expression make_expression(ExpressionNode node);
/// With the sign of an operation of two parts, such as `+`; empty: it has none.
[[nodiscard]] std::string_view sign_of(Operation operation) noexcept;
/// As parse_expression() reads it.
[[nodiscard]] std::string text_of(const ExpressionNode& node);
/// A text as a literal of SQL.
[[nodiscard]] std::string quoted(std::string_view text, char quote);

}  // namespace strid::table::detail
