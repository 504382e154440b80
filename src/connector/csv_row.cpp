// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <strid/base/error.hpp>
#include <strid/connector/csv_row.hpp>

namespace strid {

namespace {

char* find(char* begin, char* end, char c) {
    return static_cast<char*>(std::memchr(begin, c, static_cast<std::size_t>(end - begin)));
}

// The closing quote of a field whose text begins at `p`, or null. Sets `escaped`.
char* closing_quote(char* p, char* end, bool& escaped) {
    while ((p = find(p, end, '"')) != nullptr) {
        if (p + 1 == end || p[1] != '"') return p;
        escaped = true;
        p += 2;
    }
    return nullptr;
}

bool at_line_end(const char* p) {
    return *p == '\n' || (*p == '\r' && p[1] == '\n');
}

}  // namespace

CsvRow split_csv_row(char* begin, char* end, char delimiter, std::vector<CsvField>& fields) {
    fields.clear();
    bool quoted = false;
    for (char* p = begin;;) {
        CsvField field{p, p, false};
        if (*p == '"') {
            quoted = true;
            ++field.begin;
            field.end = closing_quote(field.begin, end, field.escaped);
            if (field.end == nullptr)
                return {CsvRowStatus::open_quote, quoted, find(begin, end, '\n') + 1};
            p = field.end + 1;
            if (*p != delimiter && !at_line_end(p)) {
                return {CsvRowStatus::text_after_quote, quoted, find(begin, end, '\n') + 1};
            }
        } else {
            p += find_csv_field_end(p, delimiter) - p;
            field.end = p;
            if (*p == '\n' && p != field.begin && p[-1] == '\r') --field.end;
        }
        fields.push_back(field);
        if (*p != delimiter) return {CsvRowStatus::row, quoted, p + (*p == '\r' ? 2 : 1)};
        ++p;
    }
}

std::string_view unescape_csv(CsvField& field) noexcept {
    if (!field.escaped) return field.text();
    char* to = field.begin;
    for (const char* from = field.begin; from != field.end; ++from) {
        *to++ = *from;
        if (*from == '"') ++from;
    }
    field.end = to;
    field.escaped = false;
    return field.text();
}

void append_csv_field(std::string& out, std::string_view text, char delimiter) {
    const auto is_special = [delimiter](char c) {
        return c == delimiter || c == '"' || c == '\n' || c == '\r';
    };
    if (std::none_of(text.begin(), text.end(), is_special)) {
        out += text;
        return;
    }
    out += '"';
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

void check_csv_delimiter(char delimiter) {
    const auto byte = static_cast<unsigned char>(delimiter);
    const bool alphanumeric = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                              (byte >= 'A' && byte <= 'Z');
    if (alphanumeric || byte == 0 || std::strchr("\"\r\n+-.", delimiter) != nullptr) {
        throw GraphError(
            "a CSV delimiter cannot be a letter, a digit, '\"', '+', '-', '.', a "
            "newline or NUL");
    }
}

}  // namespace strid
