// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <strid/base/error.hpp>
#include <strid/engine/connector/csv_row.hpp>

namespace strid {

namespace {

enum class Quote : std::uint8_t { closed, open, too_long };

// With an escape no block search: such files are few.
char* find_quote_or_newline(char* p, char escape) {
    if (escape == '\0') return p + (find_csv_field_end(p, '"') - p);
    while (*p != '"' && *p != '\n' && *p != escape) ++p;
    return p;
}

// Moves `p` from inside a quoted field of the row that begins at `row` to its closing quote, or to
// `end`. Sets `escaped`, counts newlines.
Quote find_closing_quote(char*& p, const char* row, const char* end, char escape,
                         const CsvQuoteLimits& limits, bool& escaped, std::size_t& lines) {
    while (p != end) {
        p = find_quote_or_newline(p, escape);
        if (*p == escape && *p != '\0') {
            escaped = true;
            if (*++p != '\n') {
                ++p;
                continue;
            }
        } else if (*p == '"') {
            if (p[1] != '"') return Quote::closed;
            escaped = true;
            p += 2;
            continue;
        }
        ++p;
        if (++lines >= limits.lines_max || static_cast<std::size_t>(p - row) > limits.bytes_max) {
            return Quote::too_long;
        }
    }
    return Quote::open;
}

bool at_line_end(const char* p) {
    return *p == '\n' || (*p == '\r' && p[1] == '\n');
}

// Moves `p` from the begin of a field without quotes to its delimiter, or the end of the line.
void find_field_end(char*& p, char delimiter, char escape, bool& escaped) {
    const char* const begin = p;
    while (*p != delimiter && *p != '\n') {
        const bool is_escape = *p == escape && *p != '\0' && !at_line_end(p + 1);
        escaped = escaped || is_escape;
        p += is_escape ? 2 : 1;
    }
    const bool is_null = p - begin == 2 && *begin == escape && begin[1] == 'N';
    escaped = escaped && !is_null;
}

char* after_first_line(char* begin, const char* end) {
    const auto bytes = static_cast<std::size_t>(end - begin);
    return static_cast<char*>(std::memchr(begin, '\n', bytes)) + 1;
}

}  // namespace

// The open row may have moved to another chunk.
void CsvRowCutter::go_on(char* begin) noexcept {
    if (begin == begin_) return;
    for (CsvField& field : fields_) {
        field.begin = begin + (field.begin - begin_);
        field.end = begin + (field.end - begin_);
    }
}

CsvRow CsvRowCutter::cut(char* begin, char* end, char delimiter, const CsvQuoteLimits& limits,
                         const CsvQuoting& quoting) {
    char* p = begin;
    bool is_quoted = looked_at_ != 0;
    if (is_quoted) {
        go_on(begin);
        p += looked_at_;
        looked_at_ = 0;
    } else {
        fields_.clear();
        lines_ = 0;
    }
    const auto fault = [&](CsvRowStatus status) {
        return CsvRow{status, after_first_line(begin, end), lines_};
    };
    for (;;) {
        if (!is_quoted) {
            is_quoted = *p == '"' && quoting.quotes;
            if (is_quoted) ++p;
            fields_.push_back({p, p, false, is_quoted});
        }
        CsvField& field = fields_.back();
        if (is_quoted) {
            switch (
                find_closing_quote(p, begin, end, quoting.escape, limits, field.escaped, lines_)) {
                case Quote::closed:
                    break;
                case Quote::too_long:
                    return fault(CsvRowStatus::quote_too_long);
                case Quote::open:
                    begin_ = begin;
                    looked_at_ = static_cast<std::size_t>(end - begin);
                    return {CsvRowStatus::open_quote, end, lines_};
            }
            field.end = p++;
            if (*p != delimiter && !at_line_end(p)) return fault(CsvRowStatus::text_after_quote);
            is_quoted = false;
        } else {
            if (quoting.escape == '\0') {
                p += find_csv_field_end(p, delimiter) - p;
            } else {
                find_field_end(p, delimiter, quoting.escape, field.escaped);
            }
            field.end = p;
            if (*p == '\n' && p != field.begin && p[-1] == '\r') --field.end;
        }
        if (*p != delimiter) return {CsvRowStatus::row, p + (*p == '\r' ? 2 : 1), lines_};
        ++p;
    }
}

std::string_view unescape_csv(CsvField& field, char escape) noexcept {
    if (!field.escaped) return field.text();
    char* to = field.begin;
    for (const char* from = field.begin; from != field.end; ++from) {
        const bool is_escape = escape != '\0' && *from == escape && from + 1 != field.end;
        if (is_escape) ++from;
        *to++ = *from;
        const bool is_pair = !is_escape && (field.quoted || escape == '\0') && *from == '"';
        if (is_pair && from + 1 != field.end) ++from;
    }
    field.end = to;
    field.escaped = false;
    return field.text();
}

void append_csv_field(std::string& out, std::string_view text, char delimiter) {
    const auto is_special = [delimiter](char c) {
        return c == delimiter || c == '"' || c == '\n' || c == '\r';
    };
    // Databases take a line of these two characters for the end of the rows.
    if (std::none_of(text.begin(), text.end(), is_special) && text != "\\.") {
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
