// SPDX-License-Identifier: Apache-2.0
//
// A row of a table whose columns are known at run time only: a key, a time, and values, numbers or
// (for distinct counts) texts. Empty fields are missing values, which aggregates pass over as SQL
// does. The values lie in the memory of rows (row_memory.hpp), as the key of several columns does;
// any other text points into the chunk that the row was read into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <strid/base/time.hpp>

#include "table_number.hpp"

namespace strid::tool {

/// One value of a row.
struct TableField {
    TableValue value;
    ValueKind kind;
    std::uint32_t length;  // of a text
};
static_assert(sizeof(TableField) == 16);

struct TableRow {
    std::string_view key;
    EventTime time;
    /// The values of the plan. Behind them the row as it stands in the input, as a text, where late
    /// rows are written.
    TableField* fields = nullptr;

    [[nodiscard]] bool has(std::size_t value) const noexcept {
        return fields[value].kind != ValueKind::missing;
    }
    [[nodiscard]] TableNumber number(std::size_t value) const noexcept {
        return {fields[value].value, fields[value].kind};
    }
    [[nodiscard]] std::string_view text(std::size_t value) const noexcept {
        return {fields[value].value.text, fields[value].length};
    }
    void forget(std::size_t value) const noexcept { fields[value].kind = ValueKind::missing; }
    void set_number(std::size_t value, const TableNumber& number) const noexcept {
        fields[value].value = number.value;
        fields[value].kind = number.kind;
    }
    void set_text(std::size_t value, std::string_view text) const noexcept {
        fields[value].value.text = text.data();
        fields[value].kind = ValueKind::text;
        fields[value].length = static_cast<std::uint32_t>(text.size());
    }
    void set_text_or_missing(std::size_t value, std::string_view text) const noexcept {
        set_text(value, text);
        if (text.empty()) forget(value);
    }
};
static_assert(sizeof(TableRow) == 32);

/// The key of one column is its text. That of several columns is a text, too: of each column how
/// long its text is, and the text.
using KeyPartLength = std::uint32_t;

/// Calls `visit(text)` for each column of a key, in order.
template <class Visit>
[[gnu::always_inline]] inline void visit_key(std::string_view key, std::size_t columns,
                                             Visit&& visit) {
    if (columns == 1) return visit(key);
    for (std::size_t column = 0; column != columns; ++column) {
        KeyPartLength length = 0;
        std::memcpy(&length, key.data(), sizeof length);
        visit(key.substr(sizeof length, length));
        key.remove_prefix(sizeof length + length);
    }
}

}  // namespace strid::tool
