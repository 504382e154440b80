// SPDX-License-Identifier: Apache-2.0
#include "table_plan.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "number_cells.hpp"
#include "table_function.hpp"

namespace strid::tool {

namespace {

/// Before the name of a result: `sum(x) as "total, all"`.
bool ends_with_as(std::string_view text) noexcept {
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text.ends_with(" as") || text.ends_with(" AS") || text.ends_with(" As");
}

}  // namespace

std::vector<std::string_view> split_parts(std::string_view list) {
    std::vector<std::string_view> parts;
    bool is_quoted = false;
    char before = ',';  // the last that is no space
    std::size_t begin = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const char c = list[i];
        if (c == '"' && is_quoted) {
            is_quoted = false;
        } else if (c == '"') {  // behind a closing one it is the second of two
            is_quoted = before == ',' || before == '(' || before == '"' ||
                        ends_with_as(list.substr(begin, i - begin));
        } else if (c == ',' && !is_quoted) {
            parts.push_back(detail::trimmed(list.substr(begin, i - begin)));
            begin = i + 1;
        }
        if (c != ' ') before = c;
    }
    if (is_quoted) throw GraphError(fmt::format("a quote is never closed: {}", list));
    if (begin < list.size()) parts.push_back(detail::trimmed(list.substr(begin)));
    return parts;
}

std::vector<std::string> split_list(std::string_view list) {
    const std::vector<std::string_view> parts = split_parts(list);
    return {parts.begin(), parts.end()};
}

namespace {

std::string without_quotes(std::string_view name) {
    if (name.size() < 2 || !name.starts_with('"') || !name.ends_with('"')) return std::string(name);
    std::string meant(name.substr(1, name.size() - 2));
    for (std::size_t i = 0; (i = meant.find("\"\"", i)) != std::string::npos; ++i)
        meant.erase(i, 1);
    return meant;
}

/// How many words of a state a cell takes; none where it is a sketch.
std::size_t words_of(CellKind kind) noexcept {
    switch (kind) {
        case CellKind::rows:
        case CellKind::present:
            return 1;
        case CellKind::minimum:
        case CellKind::maximum:
            return sizeof(NumberExtreme) / sizeof(std::uint64_t);
        case CellKind::total:
            return sizeof(NumberTotal) / sizeof(std::uint64_t);
        case CellKind::moments:
            return sizeof(NumberMoments) / sizeof(std::uint64_t);
        default:
            return 0;
    }
}

}  // namespace

std::vector<std::string> read_columns(std::string_view list) {
    std::vector<std::string> columns = split_list(list);
    for (std::string& column : columns) column = without_quotes(column);
    return columns;
}

void TablePlan::read_aggregates(std::string_view list) {
    const std::vector<AskedAggregate> all = read_aggregate_list(list);
    for (const AskedAggregate& asked : all) {
        items.push_back({.text = asked.text, .kind = asked.function.kind, .q = asked.q});
    }
    // Values are counted by a column that is read anyway, where there is one.
    for (const bool counts : {false, true}) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if ((all[i].function.takes == FunctionTakes::any) == counts) add_cell(all[i], items[i]);
        }
    }
    if (has_blocks()) return;
    for (TableCell& cell : cells) {  // the last word of a state is that of the last cell
        cell.word = static_cast<std::uint16_t>(cell.word + words_in_state - words);
    }
    words = words_in_state;
}

void TablePlan::add_cell(const AskedAggregate& asked, TableAggregateItem& item) {
    const FunctionTakes takes = asked.function.takes;
    const bool is_rate =
        item.kind == AggregateKind::rate || item.kind == AggregateKind::rate_of_rows;
    if (is_rate && times.empty()) {
        throw GraphError(
            fmt::format("'{}' is per second of a window's length, and windows of a number of "
                        "records have none",
                        item.text));
    }
    TableCell cell{};
    cell.kind = asked.function.cell;
    cell.length = asked.length;
    if (takes != FunctionTakes::rows) {
        const bool is_read_as_number = std::find(values.begin(), values.end(),
                                                 ValueColumn{asked.column, false}) != values.end();
        const bool is_text =
            takes == FunctionTakes::any
                ? !is_read_as_number
                : takes != FunctionTakes::number && takes != FunctionTakes::length_and_number;
        cell.value = static_cast<std::uint8_t>(value_index(asked.column, is_text));
        cell.by = takes == FunctionTakes::text_by_number
                      ? static_cast<std::uint8_t>(value_index(asked.second_column, false))
                      : cell.value;
    }
    item.cell = cell_index(cell);
}

std::size_t TablePlan::cell_index(TableCell wanted) {
    const auto serves = [&](const TableCell& cell) {
        const bool counts = wanted.kind == CellKind::present && cell.kind == CellKind::total;
        return cell.value == wanted.value && cell.by == wanted.by && cell.length == wanted.length &&
               (cell.kind == wanted.kind || counts);
    };
    const auto found = std::find_if(cells.begin(), cells.end(), serves);
    const auto index = static_cast<std::size_t>(found - cells.begin());
    if (found == cells.end()) {
        wanted.word = static_cast<std::uint16_t>(words);
        wanted.sketch = static_cast<std::uint16_t>(sketches);
        cells.push_back(wanted);
        const std::size_t more = words_of(wanted.kind);
        words += more;
        sketches += more == 0 ? 1 : 0;
    }
    return index;
}

std::size_t TablePlan::value_index(std::string_view name, bool is_text) {
    const ValueColumn wanted{std::string(name), is_text};
    const auto found = std::find(values.begin(), values.end(), wanted);
    const auto index = static_cast<std::size_t>(found - values.begin());
    if (found == values.end()) {
        if (values.size() == TablePlan::values_max) {
            throw GraphError(
                fmt::format("--aggregate: more than {} columns", TablePlan::values_max));
        }
        values.push_back(wanted);
    }
    return index;
}

}  // namespace strid::tool
