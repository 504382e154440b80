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

#include "table_number.hpp"
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

struct Nothing {};

/// `line` is the row as it stands in the input, where late rows are written.
template <class Table>
struct TableRow {
    TableKey<Table> key;
    EventTime time;
    std::array<TableValue, Table::values_max> values;
    std::array<ValueKind, Table::values_max> kinds;
    std::array<std::uint32_t, Table::is_wide ? Table::values_max : 0> lengths;  // of texts
    [[no_unique_address]] std::conditional_t<Table::keeps_lines, std::string_view, Nothing> line;

    [[nodiscard]] bool has(std::size_t value) const noexcept {
        return kinds[value] != ValueKind::missing;
    }
    [[nodiscard]] TableNumber number(std::size_t value) const noexcept {
        return {values[value], kinds[value]};
    }
    /// Of a wide table.
    [[nodiscard]] std::string_view text(std::size_t value) const noexcept {
        if constexpr (Table::is_wide) return {values[value].text, lengths[value]};
        return {};
    }
    void forget_values() noexcept { kinds = {}; }
    void set_number(std::size_t value, const TableNumber& number) noexcept {
        values[value] = number.value;
        kinds[value] = number.kind;
    }
    /// Of a text a narrow table keeps that it is there.
    void set_text(std::size_t value, std::string_view text) noexcept {
        kinds[value] = ValueKind::text;
        values[value].text = text.data();
        if constexpr (Table::is_wide) lengths[value] = static_cast<std::uint32_t>(text.size());
    }
    /// A bit for each value that is there.
    [[nodiscard]] std::uint32_t present() const noexcept {
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < kinds.size(); ++i) bits |= std::uint32_t{has(i)} << i;
        return bits;
    }
};
static_assert(sizeof(TableRow<NarrowTable>) == 64);

/// Fills a fresh row from the texts of its columns: `text_of(i)` of keys, time, values. Null, or
/// what is wrong with the column `faulty`.
template <class Table, class TextOf>
detail::CsvFault read_table_row(const TablePlan& plan, TimeReader& times, TableRow<Table>& row,
                                TextOf&& text_of, const NumberFormat& numbers,
                                std::size_t& faulty) {
    std::size_t column = 0;
    visit_key(row.key, plan.keys.size(), [&](std::string_view& key) { key = text_of(column++); });
    if (!plan.time.empty()) {
        faulty = column;
        const auto fault = times.read(text_of(column++), row.time);
        if (fault != nullptr) return fault;
    }
    row.forget_values();
    for (std::size_t i = 0; i < plan.values.size(); ++i) {
        faulty = column;
        const std::string_view text = text_of(column++);
        if (plan.values[i].is_text) {
            if (!text.empty()) row.set_text(i, text);
            continue;
        }
        if (detail::trimmed(text).empty()) continue;
        TableNumber number;
        const auto fault = read_table_number(text, number, numbers);
        if (fault != nullptr) return fault;
        row.set_number(i, number);
    }
    return nullptr;
}

}  // namespace strid::tool
