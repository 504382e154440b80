// SPDX-License-Identifier: Apache-2.0
//
// Random windows, and random streams for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <strid/table/window.hpp>

#include "table_rows.hpp"

namespace strid::table::test {

inline Schema window_schema() {
    return Schema({{"k_int", {Kind::int64}},
                   {"k_text", {Kind::text}},
                   {"k_bool", {Kind::boolean}},
                   {"at", {Kind::time}},
                   {"k_float", {Kind::float64}},
                   {"i", {Kind::int64}},
                   {"f", {Kind::float64}},
                   {"d", {Kind::decimal, 2}},
                   {"t", {Kind::text}},
                   {"b", {Kind::boolean}},
                   {"length", {Kind::interval}}});
}

/// Rows with times that go on, and back by less or more than `disorder`.
inline std::vector<Row> random_stream(std::mt19937_64& random, std::size_t count,
                                      std::int64_t disorder) {
    const Schema columns = window_schema();
    std::vector<Row> rows;
    const std::uint64_t null_share = random() % 2 == 0 ? 0 : 4;
    const std::uint64_t keys = 1 + random() % 6;
    std::int64_t now = static_cast<std::int64_t>(random() % 200) - 100;
    for (std::size_t i = 0; i != count; ++i) {
        now += static_cast<std::int64_t>(random() % 7);
        if (random() % 50 == 0) now += 200;
        Row row;
        for (const Field& field : columns.fields()) {
            row.push_back(random_value(field.type, random, null_share));
        }
        const auto is_null = [](const Value& value) {
            return std::holds_alternative<std::monostate>(value);
        };
        if (!is_null(row[0])) row[0] = static_cast<std::int64_t>(random() % keys);
        if (!is_null(row[1]) && random() % 2 == 0) {
            row[1] = std::string(20, 'x') + std::to_string(random() % 3);
        }
        if (!is_null(row[4])) row[4] = random() % 2 == 0 ? -0.0 : 0.0;
        if (!is_null(row[8]) && random() % 3 == 0) row[8] = std::string(30, 'l') + 'a';
        const std::int64_t reach = random() % 20 == 0 ? disorder * 3 + 20 : disorder;
        row[3] = now - static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(reach + 1));
        rows.push_back(std::move(row));
    }
    return rows;
}

inline std::vector<Aggregate> random_aggregates(std::mt19937_64& random) {
    const std::vector<std::string> all{"count",
                                       "count(i)",
                                       "count(t)",
                                       "sum(i)",
                                       "sum(f)",
                                       "sum(d)",
                                       "sum(length)",
                                       "min(i)",
                                       "min(t)",
                                       "max(t)",
                                       "max(f)",
                                       "min(b)",
                                       "max(d)",
                                       "min(at)",
                                       "avg(i)",
                                       "avg(f)",
                                       "avg(d)",
                                       "avg(length)",
                                       "first(i)",
                                       "last(t)",
                                       "first(t)",
                                       "last(d)",
                                       "last(b)",
                                       "first(f)",
                                       "count(distinct i)",
                                       "count(distinct t)",
                                       "count(distinct f)",
                                       "median(i)",
                                       "quantile(f, 0.9)",
                                       "quantile(d, 0.25)"};
    std::string text = all[random() % all.size()];
    for (auto count = random() % 6; count != 0; --count) {
        const std::string& one = all[random() % all.size()];
        text += ", " + one + " as a" + std::to_string(count);
    }
    return parse_aggregates(text);
}

inline WindowSpec random_spec(std::mt19937_64& random) {
    WindowSpec spec{.windows = window::TimeWindows::tumbling(Duration{1})};
    for (const char* key : {"k_int", "k_text", "k_bool", "k_float"}) {
        if (random() % 3 == 0) spec.keys.emplace_back(key);
    }
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    switch (random() % 6) {
        case 0:
            spec.windows = window::SessionWindows::with_gap(Duration{1 + below(12)});
            break;
        case 1:
            spec.windows = window::CountWindows::tumbling(1 + random() % 5);
            break;
        case 2:
        case 3:
            spec.windows =
                window::TimeWindows::tumbling(Duration{1 + below(60)}, Duration{below(10) - 5});
            break;
        default: {
            const Duration slide{1 + below(12)};
            spec.windows = window::TimeWindows::sliding(
                random() % 2 == 0 ? slide * (1 + below(5)) : Duration{1 + below(40)}, slide,
                Duration{below(10) - 5});
        }
    }
    if (!std::holds_alternative<window::CountWindows>(spec.windows)) {
        spec.time = "at";
        if (random() % 3 == 0) spec.lateness = Duration{below(40)};
    }
    spec.aggregates = random_aggregates(random);
    return spec;
}

}  // namespace strid::table::test
