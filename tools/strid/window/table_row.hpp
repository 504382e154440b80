// SPDX-License-Identifier: Apache-2.0
//
// A row of a table whose columns are known at run time only: texts for a key, a time, and values,
// numbers or (for distinct counts) texts. Empty fields are missing values, which
// aggregates pass over as SQL does. Texts point into the chunk that the row was read into.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/base/time.hpp>

#include "table_plan.hpp"

namespace strid::tool {

template <std::size_t... index>
auto texts(std::index_sequence<index...>) {
    if constexpr (sizeof...(index) == 1) {
        return std::string_view{};
    } else {
        return std::tuple{(static_cast<void>(index), std::string_view{})...};
    }
}

/// The texts of the key columns; those that are not there are empty.
template <class Table>
using TableKey = decltype(texts(std::make_index_sequence<Table::keys_max>{}));

/// Calls `visit(text)` for the text of each of the table's key columns, in order.
template <class Key, class Visit>
void visit_key(Key& key, std::size_t columns, Visit&& visit) {
    if constexpr (std::is_same_v<std::remove_const_t<Key>, std::string_view>) {
        if (columns > 0) visit(key);
    } else {
        const auto some = [&](auto&... texts) {
            std::size_t left = columns;
            static_cast<void>(((left-- > 0 && (visit(texts), true)) && ...));
        };
        std::apply(some, key);
    }
}

/// A number, or the beginning of a text.
union TableValue {
    double number;
    const char* text;
};

struct Nothing {};

/// `line` is the row as it stands in the input, where late rows are written.
template <class Table>
struct TableRow {
    TableKey<Table> key;
    EventTime time;
    std::array<TableValue, Table::values_max> values;
    std::uint32_t present;  // a bit for each value that is not missing
    std::array<std::uint32_t, Table::is_wide ? Table::values_max : 0> lengths;  // of texts
    [[no_unique_address]] std::conditional_t<Table::keeps_lines, std::string_view, Nothing> line;

    [[nodiscard]] bool has(std::size_t value) const noexcept { return (present >> value & 1) != 0; }
    /// Of a wide table; the columns of a narrow one are numbers.
    [[nodiscard]] std::string_view text(std::size_t value) const noexcept {
        if constexpr (Table::is_wide) return {values[value].text, lengths[value]};
        return {};
    }
    void set_number(std::size_t value, double number) noexcept {
        values[value].number = number;
        present |= std::uint32_t{1} << value;
    }
    void set_text([[maybe_unused]] std::size_t value,
                  [[maybe_unused]] std::string_view text) noexcept {
        if constexpr (Table::is_wide) {
            values[value].text = text.data();
            lengths[value] = static_cast<std::uint32_t>(text.size());
            present |= std::uint32_t{1} << value;
        }
    }
};
static_assert(sizeof(TableRow<NarrowTable>) == 64);

/// Fills a fresh row from the texts of its columns: `text_of(i)` of keys, time, values. Null, or
/// what is wrong with the column `faulty`.
template <class Table, class TextOf>
detail::CsvFault read_table_row(const TablePlan& plan, TableRow<Table>& row, TextOf&& text_of,
                                NonFinite non_finite, std::size_t& faulty) {
    std::size_t column = 0;
    visit_key(row.key, plan.keys.size(), [&](std::string_view& key) { key = text_of(column++); });
    if (!plan.time.empty()) {
        faulty = column;
        const auto fault = read_time(text_of(column++), plan.format, row.time);
        if (fault != nullptr) return fault;
    }
    row.present = 0;
    for (std::size_t i = 0; i < plan.values.size(); ++i) {
        faulty = column;
        const std::string_view text = text_of(column++);
        if (text.empty()) continue;
        if (plan.values[i].is_text) {
            row.set_text(i, text);
            continue;
        }
        double number = 0;
        const auto fault = detail::read_csv_value(text, number, non_finite);
        if (fault != nullptr) return fault;
        row.set_number(i, number);
    }
    return nullptr;
}

}  // namespace strid::tool
