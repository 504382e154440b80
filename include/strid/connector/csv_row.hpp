// SPDX-License-Identifier: Apache-2.0
//
// Rows of comma-separated values as RFC 4180 has them, without types: cutting one row into fields,
// and writing one field. Stateless; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strid {

/// One field of a row, quotes taken off, in place.
struct CsvField {
    char* begin;
    char* end;
    bool escaped;  ///< holds doubled quotes that unescape_csv() makes single

    [[nodiscard]] std::string_view text() const noexcept {
        return {begin, static_cast<std::size_t>(end - begin)};
    }
};

enum class [[nodiscard]] CsvRowStatus : std::uint8_t {
    row,              ///< the fields are there
    open_quote,       ///< a quoted field goes on after `end`
    text_after_quote  ///< something stands between a closing quote and the delimiter
};

struct CsvRow {
    CsvRowStatus status;
    char* next;  ///< after the row's newline; at a fault, after the newline of its first line
};

/// Cuts the row that begins at `begin` into `fields` (cleared first; reuses its memory). The text
/// up to `end` ends with '\n' and is not changed. A '\r' before the newline belongs to the newline.
CsvRow split_csv_row(char* begin, char* end, char delimiter, std::vector<CsvField>& fields);

/// Makes doubled quotes single, in place; returns the new text.
std::string_view unescape_csv(CsvField& field) noexcept;

/// Appends `text`, quoted if it holds the delimiter, a quote, a newline or a '\r'.
void append_csv_field(std::string& out, std::string_view text, char delimiter);

/// Throws GraphError unless `delimiter` can be told from numbers, quotes and newlines.
void check_csv_delimiter(char delimiter);

}  // namespace strid
