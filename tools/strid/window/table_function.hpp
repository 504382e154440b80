// SPDX-License-Identifier: Apache-2.0
//
// The functions of --aggregate and how they are written: `count`, `sum(x)`, `top(3, x)`. Names are
// taken in any case; `p99.9(x)` is any percentile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "table_plan.hpp"

namespace strid::tool {

/// The arguments in the parentheses, besides the column.
enum class FunctionTakes : std::uint8_t {
    rows,               ///< nothing, or *
    any,                ///< a column of whatever
    number,             ///< a column of numbers
    text,               ///< a column, of which the texts are taken
    text_by_number,     ///< the same, and a column of numbers
    length_and_number,  ///< how many, and a column of numbers
    length_and_text,
    text_of_length  ///< a column, of which the texts are taken, before it how many or not
};

struct TableFunction {
    std::string_view name;
    AggregateKind kind;
    CellKind cell;
    FunctionTakes takes;
};

/// One of the list.
struct AskedAggregate {
    std::string text;  // as it stands there
    TableFunction function;
    double q = 0;                    // of a quantile
    std::uint32_t length = 0;        // of a list, where it takes one
    std::string column = {};         // empty: of rows
    std::string second_column = {};  // of two
};

/// How long lists are at most, and that of collect() by default.
inline constexpr std::uint32_t list_length_max = 10'000;
inline constexpr std::uint32_t collected_length = 1'000;

/// The result of split_list(), as parts of the list itself.
[[nodiscard]] std::vector<std::string_view> split_parts(std::string_view list);

/// Throws GraphError.
[[nodiscard]] std::vector<AskedAggregate> read_aggregate_list(std::string_view list);

}  // namespace strid::tool
