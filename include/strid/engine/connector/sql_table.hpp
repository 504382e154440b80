// SPDX-License-Identifier: Apache-2.0
//
// Of inputs and outputs that are tables of SQL: the options of their addresses, and lists of names
// in commands. Plain values.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <strid/connector/transport.hpp>

namespace strid::detail {

/// The options of an output, which are taken.
struct TableOptions {
    /// Throws GraphError where no table is named.
    explicit TableOptions(TransportAddress& address);
    std::string name;
    std::vector<std::string> keys;  ///< A row replaces the one with the same values in these.
};

/// The options of an input, which are taken.
struct RowsOptions {
    /// Throws GraphError unless one of the two is given.
    explicit RowsOptions(TransportAddress& address);
    std::string table;
    std::string query;
};
/// A query within a command: in parentheses, whatever comment or semicolon it ends with.
[[nodiscard]] std::string in_parentheses(std::string_view query);

/// Puts a name in quotes.
using Quote = std::function<std::string(std::string_view)>;
/// `"a", "b"`.
[[nodiscard]] std::string list_of(const std::vector<std::string>& names, const Quote& quote);
/// The query of two rows at most that have a key, or one of several that are written alike, whose
/// places in it are `parameters`. `rows`: a table's name in quotes, or a query in parentheses.
[[nodiscard]] std::string query_of_key(const TableQuery& asked, const std::string& rows,
                                       std::string_view parameters, const Quote& quote);
/// The end of an INSERT: a row whose keys are there is updated. Empty where there are no keys.
[[nodiscard]] std::string on_conflict(const std::vector<std::string>& columns,
                                      const std::vector<std::string>& keys, const Quote& quote);

}  // namespace strid::detail
