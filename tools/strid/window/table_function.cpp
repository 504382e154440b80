// SPDX-License-Identifier: Apache-2.0
#include "table_function.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

namespace strid::tool {

namespace {

using Takes = FunctionTakes;

constexpr std::array functions = std::to_array<TableFunction>({
    {"count", AggregateKind::count_rows, CellKind::rows, Takes::rows},
    {"count", AggregateKind::count, CellKind::present, Takes::any},
    {"sum", AggregateKind::sum, CellKind::total, Takes::number},
    {"mean", AggregateKind::mean, CellKind::total, Takes::number},
    {"avg", AggregateKind::mean, CellKind::total, Takes::number},
    {"min", AggregateKind::extreme, CellKind::minimum, Takes::number},
    {"max", AggregateKind::extreme, CellKind::maximum, Takes::number},
    {"stddev", AggregateKind::deviation, CellKind::moments, Takes::number},
    {"var", AggregateKind::variance, CellKind::moments, Takes::number},
    {"median", AggregateKind::quantile, CellKind::digest, Takes::number},
    {"distinct", AggregateKind::distinct, CellKind::distinct, Takes::text},
    {"distinct_approximately", AggregateKind::distinct, CellKind::distinct_approximately,
     Takes::text},
    {"first", AggregateKind::chosen, CellKind::first, Takes::text},
    {"last", AggregateKind::chosen, CellKind::last, Takes::text},
    {"min_by", AggregateKind::chosen, CellKind::min_by, Takes::text_by_number},
    {"max_by", AggregateKind::chosen, CellKind::max_by, Takes::text_by_number},
    {"rate", AggregateKind::rate_of_rows, CellKind::rows, Takes::rows},
    {"rate", AggregateKind::rate, CellKind::total, Takes::number},
    {"top", AggregateKind::list, CellKind::largest, Takes::length_and_number},
    {"bottom", AggregateKind::list, CellKind::smallest, Takes::length_and_number},
    {"most_frequent", AggregateKind::list, CellKind::frequent, Takes::length_and_text},
    {"collect", AggregateKind::list, CellKind::collected, Takes::text_of_length},
});

// Of a sketch these would be the nearest double of an integer.
constexpr TableFunction least{"p0", AggregateKind::extreme, CellKind::minimum, Takes::number};
constexpr TableFunction greatest{"p100", AggregateKind::extreme, CellKind::maximum, Takes::number};
constexpr TableFunction percentile{"p99", AggregateKind::quantile, CellKind::digest, Takes::number};

std::string how_written(const TableFunction& function) {
    switch (function.takes) {
        case Takes::rows:
            return std::string(function.name);
        case Takes::text_by_number:
            return fmt::format("{}(x, y)", function.name);
        case Takes::length_and_number:
        case Takes::length_and_text:
            return fmt::format("{}(3, x)", function.name);
        default:
            return fmt::format("{}(x)", function.name);
    }
}

std::string all_functions() {
    std::string all;
    for (const TableFunction& function : functions) all += how_written(function) + ' ';
    return all + how_written(percentile);
}

std::string in_lower_case(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
}

/// Where the word `as` stands behind a function: the name of its column follows. Outside quotes,
/// behind the closing parenthesis where there is an opening one. npos: nowhere.
std::size_t find_as(std::string_view item) {
    bool is_quoted = false;
    bool is_open = false;
    char before = '\0';  // the last that is no space
    for (std::size_t i = 0; i < item.size(); ++i) {
        const char c = item[i];
        if (c == '"') is_quoted = !is_quoted;
        is_open = is_open || (c == '(' && !is_quoted);
        const bool may_be = !is_quoted && c == ' ' && (!is_open || before == ')') &&
                            i + 4 <= item.size() && item[i + 3] == ' ';
        if (may_be && in_lower_case(item.substr(i + 1, 2)) == "as") return i;
        if (c != ' ') before = c;
    }
    return std::string_view::npos;
}

/// The items of a list: a comma in parentheses is part of one.
std::vector<std::string_view> split_items(std::string_view list) {
    std::vector<std::string_view> items;
    bool is_open = false;
    for (const std::string_view part : split_parts(list)) {
        if (is_open) {
            const auto length = static_cast<std::size_t>(part.end() - items.back().begin());
            items.back() = {items.back().data(), length};
        } else {
            items.push_back(part);
        }
        const std::string_view item = items.back();
        is_open = item.find('(') != std::string_view::npos && !item.ends_with(')') &&
                  find_as(item) == std::string_view::npos;
    }
    return items;
}

std::optional<double> percent_of(std::string_view name) {
    double percent = 0;
    if (!name.starts_with('p') ||
        detail::read_floating(name.substr(1), percent, NonFinite::reject) != nullptr ||
        percent < 0 || percent > 100) {
        return std::nullopt;
    }
    return percent;
}

[[noreturn]] void refuse_name(std::string_view name) {
    std::vector<std::string> candidates = {"p99"};
    for (const TableFunction& function : functions) candidates.emplace_back(function.name);
    throw GraphError(fmt::format("no aggregate '{}'{}; there are {}", name,
                                 suggestion(std::string(name), candidates), all_functions()));
}

/// Looks the name up; `of_rows`: there is nothing in the parentheses.
void find_function(AskedAggregate& asked, std::string_view name, bool of_rows) {
    const auto fits = [&](const TableFunction& function) {
        return function.name == name && (function.takes == Takes::rows) == of_rows;
    };
    const auto* const found = std::find_if(functions.begin(), functions.end(), fits);
    if (found != functions.end()) {
        asked.function = *found;
        asked.q = 0.5;
    } else if (const auto percent = percent_of(name); percent && !of_rows) {
        asked.function = *percent == 0 ? least : *percent == 100 ? greatest : percentile;
        asked.q = *percent / 100;
    } else {
        const bool is_known = percent_of(name) || std::any_of(functions.begin(), functions.end(),
                                                              [name](const TableFunction& one) {
                                                                  return one.name == name;
                                                              });
        if (!is_known) refuse_name(name);
        throw GraphError(
            fmt::format("'{}' is not an aggregate: write {}(x) for a column x", asked.text, name));
    }
}

std::uint32_t read_length(const AskedAggregate& asked, std::string_view text) {
    std::uint32_t length = 0;
    if (detail::read_integer(text, length) != nullptr || length < 1 || length > list_length_max) {
        throw GraphError(fmt::format("'{}': '{}' is not a number of values from 1 to {}",
                                     asked.text, text, list_length_max));
    }
    return length;
}

[[noreturn]] void refuse_arguments(const AskedAggregate& asked) {
    throw GraphError(
        fmt::format("'{}' is not an aggregate: write {}; a name with a comma stands in quotes",
                    asked.text, how_written(asked.function)));
}

void read_arguments(AskedAggregate& asked, std::vector<std::string> arguments) {
    const Takes takes = asked.function.takes;
    const bool may_have_length = takes == Takes::length_and_number ||
                                 takes == Takes::length_and_text || takes == Takes::text_of_length;
    if (takes == Takes::text_of_length) asked.length = collected_length;
    if (may_have_length && arguments.size() == 2) {
        asked.length = read_length(asked, arguments.front());
        arguments.erase(arguments.begin());
    }
    const std::size_t wanted = takes == Takes::text_by_number ? 2 : 1;
    if (arguments.size() != wanted || (may_have_length && asked.length == 0)) {
        refuse_arguments(asked);
    }
    asked.column = arguments.front();
    if (wanted == 2) asked.second_column = arguments.back();
    if (asked.column.empty() || (wanted == 2 && asked.second_column.empty())) {
        refuse_arguments(asked);
    }
}

AskedAggregate read_item(std::string_view text) {
    AskedAggregate asked{.text = std::string(text), .function = {}};
    if (const auto as = find_as(text); as != std::string_view::npos) {
        constexpr std::size_t word_bytes = std::string_view(" as ").size();
        const std::string_view name = detail::trimmed(text.substr(as + word_bytes));
        const auto names = read_columns(name);
        if (names.size() != 1 || names.front().empty()) {
            throw GraphError(
                fmt::format("'{}': '{}' is not the name of one column", asked.text, name));
        }
        asked.text = names.front();
        text = detail::trimmed(text.substr(0, as));
    }
    const auto open = text.find('(');
    if (open != std::string_view::npos && !text.ends_with(')')) {
        throw GraphError(
            fmt::format("'{}' is not an aggregate: a parenthesis is never closed", text));
    }
    const std::string name = in_lower_case(detail::trimmed(text.substr(0, open)));
    const std::string_view inside =
        open == std::string_view::npos
            ? std::string_view{}
            : detail::trimmed(text.substr(open + 1, text.size() - open - 2));
    const bool of_rows = inside.empty() || inside == "*";
    find_function(asked, name, of_rows);
    if (!of_rows) read_arguments(asked, read_columns(inside));
    return asked;
}

}  // namespace

std::vector<AskedAggregate> read_aggregate_list(std::string_view list) {
    std::vector<AskedAggregate> asked;
    for (const std::string_view item : split_items(list)) asked.push_back(read_item(item));
    if (asked.empty()) throw GraphError("no aggregate is asked for");
    if (asked.size() > TablePlan::aggregates_max) {
        throw GraphError(
            fmt::format("--aggregate: more than {} aggregates", TablePlan::aggregates_max));
    }
    return asked;
}

}  // namespace strid::tool
