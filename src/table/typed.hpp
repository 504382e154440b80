// SPDX-License-Identifier: Apache-2.0
//
// The checker: turns an expression into a tree with types, in which both sides of an operation have
// the types that a kernel takes, and columns are places of the schema. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <strid/table/expression.hpp>
#include <strid/table/schema.hpp>

#include "expression_node.hpp"

namespace strid::table::detail {

struct Typed {
    Operation operation = Operation::literal;
    Type type;                     // of the value
    bool is_null_literal = false;  // of any type
    std::vector<Typed> parts;
    Literal value;                         // of a literal, in its type
    std::size_t column = 0;                // of a column
    bool is_compared = false;              // a cast for a comparison alone: it has no faults
    const ExpressionNode* node = nullptr;  // that it was made of, for messages
};

/// Throws ExpressionError, which names the place and the types. The tree refers to `expression`.
[[nodiscard]] Typed check(const Expression& expression, const Schema& schema);
/// For messages: `column 9: a + b`, without the place for a tree that was built, cut if it is long.
[[nodiscard]] std::string shown(const ExpressionNode& node);

}  // namespace strid::table::detail
