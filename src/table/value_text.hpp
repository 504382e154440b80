// SPDX-License-Identifier: Apache-2.0
//
// Values of columns as texts and back, as casts, messages and CSV have them. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <strid/connector/csv_value.hpp>
#include <strid/table/chunk.hpp>
#include <strid/table/schema.hpp>

namespace strid::table {

/// As ISO 8601 in UTC: 2026-01-31T10:00:00Z.
void append_time_text(std::string& out, std::int64_t ns);
/// In the largest unit that it is a whole number of: 90s, -5m, 0s.
void append_interval_text(std::string& out, std::int64_t ns);
/// Appends a value that is not NULL; a text as it is.
void append_value(std::string& out, Type type, const void* values, std::size_t row);
/// Reads the whole text into the place of the row. Null: fine; else what is wrong with it. The
/// format is that of decimals and float64.
[[nodiscard]] const char* read_value(std::string_view text, Type type, void* values,
                                     std::size_t row, NumberFormat format = NonFinite::reject);
/// A name that an expression has without quotes: letters, digits and _, and no word of SQL.
[[nodiscard]] bool is_plain_name(std::string_view name);

}  // namespace strid::table
