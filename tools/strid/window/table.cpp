// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/graph/arguments.hpp>

namespace strid::tool {

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

double standardised(const TableAggregate::Cell& cell, AggregateKind kind) {
    if (cell.count < 2) return missing;
    const double variance = cell.b / static_cast<double>(cell.count - 1);
    return kind == AggregateKind::variance ? variance : std::sqrt(variance);
}

}  // namespace

// ---- the plan -----------------------------------------------------------------------------------

std::vector<std::string> split_list(std::string_view list) {
    std::vector<std::string> parts;
    while (!list.empty()) {
        const auto comma = std::min(list.find(','), list.size());
        parts.emplace_back(detail::trimmed(list.substr(0, comma)));
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return parts;
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
    if (items.size() == aggregates_max) {
        throw GraphError(fmt::format("more than {} aggregates", aggregates_max));
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
    const std::string_view column = detail::trimmed(text.substr(open + 1, text.size() - open - 2));
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
        if (values.size() == values_max) {
            throw GraphError(fmt::format("more than {} columns to aggregate", values_max));
        }
        values.push_back(wanted);
    }
    return index;
}

// ---- aggregates ---------------------------------------------------------------------------------

void TableAggregate::add(State& state, const TableRow& row) const {
    const auto& items = plan_->items;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const TableAggregateItem& item = items[i];
        Cell& cell = state.cells[i];
        if (item.kind == AggregateKind::count_rows) {
            ++cell.count;
            continue;
        }
        if (!row.has(item.value)) continue;
        ++cell.count;
        if (item.kind == AggregateKind::distinct) {
            state.sketches[item.sketch].seen.insert(hash_of(row.text(item.value)));
            continue;
        }
        if (item.kind == AggregateKind::distinct_approximately) {
            state.sketches[item.sketch].about.add(row.text(item.value));
            continue;
        }
        const double value = row.values[item.value].number;
        switch (item.kind) {
            case AggregateKind::sum:
            case AggregateKind::mean:
                cell.a += value;
                break;
            case AggregateKind::minimum:
                cell.a = cell.count == 1 ? value : std::min(cell.a, value);
                break;
            case AggregateKind::maximum:
                cell.a = cell.count == 1 ? value : std::max(cell.a, value);
                break;
            case AggregateKind::deviation:
            case AggregateKind::variance: {
                const double distance = value - cell.a;
                cell.a += distance / static_cast<double>(cell.count);
                cell.b += distance * (value - cell.a);
                break;
            }
            case AggregateKind::quantile:
                state.sketches[item.sketch].digest.add(value);
                break;
            default:
                break;
        }
    }
}

TableAggregate::State TableAggregate::combine(const State& older, const State& newer) const {
    State sum = older;
    const auto& items = plan_->items;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const TableAggregateItem& item = items[i];
        Cell& cell = sum.cells[i];
        const Cell& other = newer.cells[i];
        if (other.count == 0) continue;
        if (cell.count == 0) {
            cell = other;
        } else {
            const auto before = static_cast<double>(cell.count);
            cell.count += other.count;
            switch (item.kind) {
                case AggregateKind::sum:
                case AggregateKind::mean:
                    cell.a += other.a;
                    break;
                case AggregateKind::minimum:
                    cell.a = std::min(cell.a, other.a);
                    break;
                case AggregateKind::maximum:
                    cell.a = std::max(cell.a, other.a);
                    break;
                case AggregateKind::deviation:
                case AggregateKind::variance: {
                    const double share =
                        static_cast<double>(other.count) / static_cast<double>(cell.count);
                    const double distance = other.a - cell.a;
                    cell.a += distance * share;
                    cell.b += other.b + distance * distance * share * before;
                    break;
                }
                default:
                    break;
            }
        }
        if (item.kind == AggregateKind::quantile) {
            sum.sketches[item.sketch].digest.merge(newer.sketches[item.sketch].digest);
        } else if (item.kind == AggregateKind::distinct) {
            const auto& seen = newer.sketches[item.sketch].seen;
            sum.sketches[item.sketch].seen.insert(seen.begin(), seen.end());
        } else if (item.kind == AggregateKind::distinct_approximately) {
            sum.sketches[item.sketch].about.merge(newer.sketches[item.sketch].about);
        }
    }
    return sum;
}

TableAggregate::Values TableAggregate::lower(const State& state) const {
    Values values{};
    const auto& items = plan_->items;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Cell& cell = state.cells[i];
        const auto count = static_cast<double>(cell.count);
        switch (items[i].kind) {
            case AggregateKind::count_rows:
            case AggregateKind::count:
                values[i] = count;
                break;
            case AggregateKind::sum:
            case AggregateKind::minimum:
            case AggregateKind::maximum:
                values[i] = cell.count == 0 ? missing : cell.a;
                break;
            case AggregateKind::mean:
                values[i] = cell.count == 0 ? missing : cell.a / count;
                break;
            case AggregateKind::deviation:
            case AggregateKind::variance:
                values[i] = standardised(cell, items[i].kind);
                break;
            case AggregateKind::quantile:
                values[i] = state.sketches[items[i].sketch].digest.quantile(items[i].q);
                break;
            case AggregateKind::distinct:
                values[i] = static_cast<double>(state.sketches[items[i].sketch].seen.size());
                break;
            case AggregateKind::distinct_approximately:
                values[i] = std::round(state.sketches[items[i].sketch].about.estimate());
                break;
        }
    }
    return values;
}

// ---- text ---------------------------------------------------------------------------------------

std::string TableText::result_header() const {
    std::string header;
    for (const std::string& key : plan_->keys) {
        append_csv_field(header, key, ',');
        header += ',';
    }
    header += "window_start,window_end";
    for (const TableAggregateItem& item : plan_->items) {
        header += ',';
        append_csv_field(header, item.text, ',');
    }
    return header + '\n';
}

std::string TableText::late_header() const {
    std::string header;
    for (const std::string& key : plan_->keys) {
        append_csv_field(header, key, ',');
        header += ',';
    }
    append_csv_field(header, plan_->time, ',');
    for (const ValueColumn& value : plan_->values) {
        header += ',';
        append_csv_field(header, value.name, ',');
    }
    return header + '\n';
}

void TableText::append_key(std::string& out, const TableKey& key) const {
    std::size_t left = plan_->keys.size();
    std::apply(
        [&](const auto&... texts) {
            const auto append_one = [&](std::string_view text) {
                if (left == 0) return;
                --left;
                append_csv_field(out, text, ',');
                out += ',';
            };
            (append_one(texts), ...);
        },
        key);
}

void TableText::append(std::string& out, const TableRow& late) const {
    append_key(out, late.key);
    append_bound(out, late.time);
    for (std::size_t i = 0; i < plan_->values.size(); ++i) {
        out += ',';
        if (!late.has(i)) continue;
        if (plan_->values[i].is_text) {
            append_csv_field(out, late.text(i), ',');
        } else {
            detail::append_csv_value(out, late.values[i].number, ',');
        }
    }
}

void TableText::append_values(std::string& out, const TableAggregate::Values& values) const {
    for (std::size_t i = 0; i < plan_->items.size(); ++i) {
        out += ',';
        if (!std::isnan(values[i])) detail::append_csv_value(out, values[i], ',');
    }
}

}  // namespace strid::tool
