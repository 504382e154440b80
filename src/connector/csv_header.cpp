// SPDX-License-Identifier: Apache-2.0
#include "csv_header.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <strid/connector/csv_value.hpp>
#include <strid/engine/base/excerpt.hpp>

namespace strid::detail {

namespace {

constexpr std::array delimiters{',', ';', '\t', '|'};
constexpr std::size_t shown_bytes_max = 200;

std::string setting(OptionStyle style, std::string_view name, char value) {
    const std::string text = value == '\t' ? "\\t" : std::string(1, value);
    if (style == OptionStyle::member) return fmt::format(".{} = '{}'", name, text);
    return fmt::format("--{} '{}'", name, text);
}

std::string_view unquoted(std::string_view name) noexcept {
    name = trimmed(name);
    if (name.size() < 2 || name.front() != '"' || name.back() != '"') return name;
    return name.substr(1, name.size() - 2);
}

bool has_name(std::string_view line, char delimiter, std::string_view wanted) {
    while (true) {
        const auto end = line.find(delimiter);
        if (unquoted(line.substr(0, end)) == wanted) return true;
        if (end == std::string_view::npos) return false;
        line.remove_prefix(end + 1);
    }
}

}  // namespace

bool has_lone_return(std::string_view text) noexcept {
    const auto at = text.find('\r');
    return at != std::string_view::npos && at + 1 < text.size() && text[at + 1] != '\n';
}

std::string dialect_hint(const HeaderLine& header, std::string_view wanted) {
    constexpr std::string_view separator_line = "sep=";
    const std::string_view line = trimmed(header.line);
    if (line.starts_with(separator_line) && line.size() == separator_line.size() + 1) {
        const bool is_member = header.style == OptionStyle::member;
        return fmt::format(
            " (the separator line of a spreadsheet? then {}{})",
            is_member ? ".skip_lines = 1" : "--skip 1",
            line.back() == header.delimiter
                ? ""
                : (is_member ? ", " : " ") + setting(header.style, "delimiter", line.back()));
    }
    for (const char delimiter : delimiters) {
        if (delimiter == header.delimiter) continue;
        const bool is_likely = header.names.size() == 1
                                   ? header.line.find(delimiter) != std::string_view::npos
                                   : has_name(header.line, delimiter, wanted);
        if (!is_likely) continue;
        return fmt::format(" (other delimiters? then {})",
                           setting(header.style, "delimiter", delimiter));
    }
    const char first = header.line.empty() ? '\0' : header.line.front();
    if (first == '#' || first == '%') {
        return fmt::format(" (a comment? then {})", setting(header.style, "comment", first));
    }
    if (header.names.size() == 1) {
        return header.style == OptionStyle::member ? " (a line before the header? then .skip_lines)"
                                                   : " (a line before the header? then --skip 1)";
    }
    return {};
}

std::string dialect_hint_of_row(std::string_view row, char delimiter, std::size_t expected,
                                OptionStyle style) {
    for (const char other : delimiters) {
        if (other == delimiter || expected < 2) continue;
        const auto found = std::count(row.begin(), row.end(), other);
        if (static_cast<std::size_t>(found) + 1 != expected) continue;
        return fmt::format(" (other delimiters? then {})", setting(style, "delimiter", other));
    }
    return {};
}

std::string null_hint(std::string_view text, OptionStyle style) {
    constexpr std::array<std::string_view, 16> words{"NA",   "N/A",  "n/a",  "na",  "NULL", "null",
                                                     "Null", "None", "none", "\\N", "-",    "--",
                                                     "?",    "NaN",  "nan",  "."};
    text = trimmed(text);
    if (std::find(words.begin(), words.end(), text) == words.end()) return {};
    return style == OptionStyle::member
               ? fmt::format(" (no value? then .null_words = {{\"{}\"}})", text)
               : fmt::format(" (no value? then --null '{}')", text);
}

ColumnFound find_column(const HeaderLine& header, std::string_view wanted) {
    const auto& names = header.names;
    const auto found = std::find(names.begin(), names.end(), trimmed(wanted));
    const auto column = static_cast<std::size_t>(found - names.begin());
    if (found == names.end()) {
        if (has_lone_return(header.line)) return {column, lone_returns};
        return {column, fmt::format("no column '{}' in the header: {}{}", excerpt(wanted),
                                    excerpt(header.line, shown_bytes_max),
                                    dialect_hint(header, trimmed(wanted)))};
    }
    const auto again = std::find(found + 1, names.end(), trimmed(wanted));
    if (again == names.end()) return {column, {}};
    const char* const remedy = header.style == OptionStyle::member
                                   ? "ask for its number"
                                   : "--no-header --skip 1 takes columns by number";
    return {column, fmt::format("columns {} and {} are both '{}' in the header: {}", column + 1,
                                again - names.begin() + 1, excerpt(wanted), remedy)};
}

}  // namespace strid::detail
