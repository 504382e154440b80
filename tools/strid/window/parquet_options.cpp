// SPDX-License-Identifier: Apache-2.0
#include "parquet_options.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <strid/connector/transport.hpp>

#include "table_plan.hpp"

namespace strid::tool {

namespace {

bool is_of_parquet(const std::string& name) {
    return is_transport_address(name) && TransportAddress(name).scheme() == "parquet";
}

/// A field of CSV, as the value of an option.
void append_item(std::string& list, const std::string& item) {
    std::string field;
    append_csv_field(field, item, ',');
    if (!list.empty()) list += ',';
    for (const char c : field) {
        if (c == '%') {
            list += "%25";
        } else if (c == '&') {
            list += "%26";
        } else {
            list += c;
        }
    }
}

std::string with_option(const std::string& name, std::string_view option,
                        const std::string& value) {
    const TransportAddress address(name);
    std::string text = name;
    if (!name.starts_with("parquet:")) {  // the name of a file
        text = "parquet:";
        for (const char c : address.place()) {
            if (c == '?') {
                text += "%3F";
            } else {
                text += c;
            }
        }
    }
    text += text.find('?') == std::string::npos ? '?' : '&';
    return (text += option) += "=" + value;
}

bool has_option(const std::string& name, std::string_view option) {
    const TransportAddress address(name);
    const auto& options = address.left();
    return std::any_of(options.begin(), options.end(),
                       [option](const auto& one) { return one.first == option; });
}

/// Null: by its first values.
const char* type_of(AggregateKind kind) noexcept {
    switch (kind) {
        case AggregateKind::count_rows:
        case AggregateKind::count:
        case AggregateKind::distinct:
            return "int64";
        case AggregateKind::chosen:
        case AggregateKind::list:
            return "string";
        default:  // a sum of whole numbers may be followed by one with a fraction
            return "double";
    }
}

std::string columns_of(const TablePlan& plan) {
    std::string columns;
    std::vector<std::string> used;
    const auto add = [&](const std::string& name) {
        if (std::count(used.begin(), used.end(), name) != 0) return;
        used.push_back(name);
        append_item(columns, name);
    };
    for (const std::string& key : plan.keys) add(key);
    for (const std::string& time : plan.times) add(time);
    for (const ValueColumn& value : plan.values) add(value.name);
    return columns;
}

std::string types_of(const TablePlan& plan) {
    std::string types;
    for (const std::string& key : plan.keys) append_item(types, key + ":string");
    for (const TableAggregateItem& item : plan.items) {
        append_item(types, item.text + ":" + type_of(item.kind));
    }
    return types;
}

}  // namespace

void settle_parquet(WindowCommand& command) {
    WindowJob& job = command.job;
    const std::string columns = columns_of(*command.plan);
    // Whole rows are written where they are late, or malformed.
    const bool needs_rows = !command.late.empty() || !command.dead_letter.empty();
    for (std::string& input : job.inputs) {
        if (needs_rows || columns.empty() || command.no_header || !is_of_parquet(input)) continue;
        if (!has_option(input, "columns")) input = with_option(input, "columns", columns);
    }
    if (!is_of_parquet(job.output)) return;
    // Those that are given are the first.
    job.output = with_option(job.output, "known", types_of(*command.plan));
}

}  // namespace strid::tool
