// SPDX-License-Identifier: Apache-2.0
//
// The header of a table: where a column is, and the error if it is missing. Private to the
// connector room. Stateless.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace strid::detail {

/// How a message names what a user may set.
enum class OptionStyle : unsigned char {
    member,       ///< of CsvOptions
    command_line  ///< of `strid`
};

struct HeaderLine {
    const std::vector<std::string>& names;
    std::string_view line;
    char delimiter;
    OptionStyle style;
};

/// The place of `wanted`, counted from 0, or why there is none or more than one.
struct ColumnFound {
    std::size_t column;
    std::string fault;
};
[[nodiscard]] ColumnFound find_column(const HeaderLine& header, std::string_view wanted);

/// The hint for a first line that may be in another dialect; empty: none.
[[nodiscard]] std::string dialect_hint(const HeaderLine& header, std::string_view wanted);
/// The same of a row of which `expected` fields were expected.
[[nodiscard]] std::string dialect_hint_of_row(std::string_view row, char delimiter,
                                              std::size_t expected, OptionStyle style);
/// The hint for a field that is a usual word for no value; empty: it is none.
[[nodiscard]] std::string null_hint(std::string_view text, OptionStyle style);
/// Whether a carriage return stands alone, as at the ends of the lines of old Macs.
[[nodiscard]] bool has_lone_return(std::string_view text) noexcept;
inline constexpr const char* lone_returns =
    "lines end in a carriage return alone, as old Macs wrote them; tr '\\r' '\\n' makes them lines";

}  // namespace strid::detail
