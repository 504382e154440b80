// SPDX-License-Identifier: Apache-2.0
#include "table_plan.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/graph/arguments.hpp>

namespace strid::tool {

std::vector<std::string> split_list(std::string_view list) {
    std::vector<std::string> parts;
    bool is_quoted = false;
    char before = ',';  // the last that is no space
    std::size_t begin = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const char c = list[i];
        if (c == '"' && is_quoted) {
            is_quoted = false;
        } else if (c == '"') {  // behind a closing one it is the second of two
            is_quoted = before == ',' || before == '(' || before == '"';
        } else if (c == ',' && !is_quoted) {
            parts.emplace_back(detail::trimmed(list.substr(begin, i - begin)));
            begin = i + 1;
        }
        if (c != ' ') before = c;
    }
    if (is_quoted) throw GraphError(fmt::format("a quote is never closed: {}", list));
    if (begin < list.size()) parts.emplace_back(detail::trimmed(list.substr(begin)));
    return parts;
}

namespace {

std::string without_quotes(std::string_view name) {
    if (name.size() < 2 || !name.starts_with('"') || !name.ends_with('"')) return std::string(name);
    std::string meant(name.substr(1, name.size() - 2));
    for (std::size_t i = 0; (i = meant.find("\"\"", i)) != std::string::npos; ++i)
        meant.erase(i, 1);
    return meant;
}

}  // namespace

std::vector<std::string> read_columns(std::string_view list) {
    std::vector<std::string> columns = split_list(list);
    for (std::string& column : columns) column = without_quotes(column);
    return columns;
}

void TablePlan::read_aggregates(std::string_view list) {
    for (const std::string& item : split_list(list)) add_aggregate(item);
    if (items.empty()) throw GraphError("no aggregate is asked for");
}

void TablePlan::add_aggregate(std::string_view text) {
    static const std::vector<std::pair<std::string, AggregateKind>> names = {
        {"count", AggregateKind::count},
        {"sum", AggregateKind::sum},
        {"mean", AggregateKind::mean},
        {"avg", AggregateKind::mean},
        {"min", AggregateKind::minimum},
        {"max", AggregateKind::maximum},
        {"stddev", AggregateKind::deviation},
        {"var", AggregateKind::variance},
        {"distinct", AggregateKind::distinct},
        {"median", AggregateKind::quantile},
        {"distinct_approximately", AggregateKind::distinct_approximately},
    };
    if (items.size() == LargeTable::aggregates_max) {
        throw GraphError(
            fmt::format("--aggregate: more than {} aggregates", LargeTable::aggregates_max));
    }
    TableAggregateItem item{.text = std::string(text), .kind = AggregateKind::count_rows};
    if (text == "count") {
        items.push_back(item);
        return;
    }
    const auto open = text.find('(');
    if (open == std::string_view::npos || !text.ends_with(')') || open + 2 == text.size()) {
        throw GraphError(
            fmt::format("'{}' is not an aggregate: write count, sum(x), mean(x), ...", text));
    }
    const std::string_view name = detail::trimmed(text.substr(0, open));
    const std::string column =
        without_quotes(detail::trimmed(text.substr(open + 1, text.size() - open - 2)));
    const auto known = std::find_if(names.begin(), names.end(),
                                    [name](const auto& entry) { return entry.first == name; });
    double percent = 0;
    if (known != names.end()) {
        item.kind = known->second;
        item.q = 0.5;
    } else if (name.starts_with('p') &&
               detail::read_floating(name.substr(1), percent, NonFinite::reject) == nullptr &&
               percent >= 0 && percent <= 100) {
        item.kind = AggregateKind::quantile;
        item.q = percent / 100;
    } else {
        std::vector<std::string> candidates = {"p99"};
        for (const auto& [candidate, kind] : names) candidates.push_back(candidate);
        throw GraphError(
            fmt::format("no aggregate '{}'{}", name, suggestion(std::string(name), candidates)));
    }
    const bool is_of_text =
        item.kind == AggregateKind::distinct || item.kind == AggregateKind::distinct_approximately;
    item.value = value_index(column, is_of_text);
    if (is_of_text || item.kind == AggregateKind::quantile) item.sketch = sketches++;
    items.push_back(item);
}

std::size_t TablePlan::value_index(std::string_view name, bool is_text) {
    const ValueColumn wanted{std::string(name), is_text};
    const auto found = std::find(values.begin(), values.end(), wanted);
    const auto index = static_cast<std::size_t>(found - values.begin());
    if (found == values.end()) {
        if (values.size() == LargeTable::values_max) {
            throw GraphError(
                fmt::format("--aggregate: more than {} columns", LargeTable::values_max));
        }
        values.push_back(wanted);
    }
    return index;
}

bool TablePlan::is_plain() const noexcept {
    return std::all_of(items.begin(), items.end(), [](const TableAggregateItem& item) {
        switch (item.kind) {
            case AggregateKind::deviation:
            case AggregateKind::variance:
            case AggregateKind::quantile:
            case AggregateKind::distinct:
            case AggregateKind::distinct_approximately:
                return false;
            default:
                return true;
        }
    });
}

}  // namespace strid::tool
