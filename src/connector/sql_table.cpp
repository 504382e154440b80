// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <strid/engine/connector/sql_table.hpp>

namespace strid::detail {

TableOptions::TableOptions(TransportAddress& address)
    : name(address.take("table")), keys(address.take_list("keys")) {
    (void)address.take("sink");
    if (name.empty()) address.refuse("an output has the option 'table': ?table=NAME");
}

RowsOptions::RowsOptions(TransportAddress& address)
    : table(address.take("table")), query(address.take("query")) {
    if (query.empty() == table.empty()) {
        address.refuse("an input has one of the options 'table' and 'query'");
    }
}

std::string in_parentheses(std::string_view query) {
    const std::size_t last = query.find_last_not_of(" \t\r\n;");
    return fmt::format("({}\n)", query.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

std::string query_of_key(const TableQuery& asked, const std::string& rows,
                         std::string_view parameters, const Quote& quote) {
    // A name in quotes that is no column is a text to SQLite, unless a table stands before it.
    const Quote column = [&quote](std::string_view name) { return "strid_rows." + quote(name); };
    return fmt::format("select {} from {} as strid_rows where {} in ({}) limit 2",
                       list_of(asked.columns, column), rows, column(asked.key), parameters);
}

std::string list_of(const std::vector<std::string>& names, const Quote& quote) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + quote(name);
    return text;
}

std::string on_conflict(const std::vector<std::string>& columns,
                        const std::vector<std::string>& keys, const Quote& quote) {
    if (keys.empty()) return {};
    std::string updates;
    for (const std::string& column : columns) {
        if (std::find(keys.begin(), keys.end(), column) != keys.end()) continue;
        const std::string name = quote(column);
        updates += fmt::format("{}{} = excluded.{}", updates.empty() ? "" : ", ", name, name);
    }
    return fmt::format(" on conflict ({}) do {}", list_of(keys, quote),
                       updates.empty() ? "nothing" : "update set " + updates);
}

}  // namespace strid::detail
