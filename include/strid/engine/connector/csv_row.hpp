// SPDX-License-Identifier: Apache-2.0
//
// Rows of comma-separated values as RFC 4180 has them, or with other quotes, without types: cutting
// one row into fields, and writing one field. A cutter is used by one thread at a time; the rest is
// stateless.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strid {

/// One field of a row, quotes taken off, in place.
struct CsvField {
    char* begin;
    char* end;
    bool escaped;         ///< holds doubled quotes, or escapes, that unescape_csv() takes out
    bool quoted = false;  ///< stood in quotes

    [[nodiscard]] std::string_view text() const noexcept {
        return {begin, static_cast<std::size_t>(end - begin)};
    }
};

enum class [[nodiscard]] CsvRowStatus : std::uint8_t {
    row,               ///< the fields are there
    open_quote,        ///< a quoted field goes on after `end`
    text_after_quote,  ///< something stands between a closing quote and the delimiter
    quote_too_long     ///< a quoted field goes on beyond the limits
};

struct CsvRow {
    CsvRowStatus status;
    char* next;  ///< after the row's newline; at a fault, after the newline of its first line
    std::size_t lines;  ///< newlines inside quotes, as far as was looked
};

/// How a field is written that has special characters.
struct CsvQuoting {
    bool quotes = true;  ///< A field may stand in quotes; else a quote is a character.
    /// The character behind it stands for itself; '\0': there is none. Before the end of a line
    /// outside quotes it is a character, and a field without quotes that is it and N stays as it
    /// is, which databases write for no value.
    char escape = '\0';
};

/// Where a quote is still open at the end of a line, the row may have so many lines and, up to that
/// line, so many bytes.
struct CsvQuoteLimits {
    std::size_t lines_max;
    std::size_t bytes_max;
};

/// Cuts rows into fields. For a row whose end has not come it remembers the position it has
/// searched to, so that each byte is looked at once, however often and in whatever portions more
/// text comes.
class CsvRowCutter {
  public:
    /// Cuts the row that begins at `begin`; after `open_quote` the same row, of which more has come
    /// and which may have moved. The text up to `end` ends with '\n' and is not changed; 16 bytes
    /// after it may be read. A '\r' before the newline belongs to the newline.
    CsvRow cut(char* begin, char* end, char delimiter, const CsvQuoteLimits& limits,
               const CsvQuoting& quoting = {});
    /// After `open_quote`: the next row is another one.
    void forget() noexcept { looked_at_ = 0; }
    /// Newlines inside the row that `open_quote` was said of.
    [[nodiscard]] std::size_t lines() const noexcept { return lines_; }
    /// Of the last row, until the next call.
    [[nodiscard]] std::vector<CsvField>& fields() noexcept { return fields_; }

  private:
    void go_on(char* begin) noexcept;

    std::vector<CsvField> fields_;
    char* begin_ = nullptr;
    std::size_t looked_at_ = 0;  // bytes of the open row; 0: a row begins
    std::size_t lines_ = 0;
};

/// The first `delimiter` or newline from `p` on. There is a newline, and LineReader::slack_bytes
/// (at least 16) that may be read after it.
inline const char* find_csv_field_end(const char* p, char delimiter) noexcept {
#ifdef __SSE2__
    const __m128i delimiters = _mm_set1_epi8(delimiter);
    const __m128i newlines = _mm_set1_epi8('\n');
    for (;; p += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        const auto found = static_cast<unsigned>(_mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, delimiters), _mm_cmpeq_epi8(bytes, newlines))));
        if (found != 0) return p + std::countr_zero(found);
    }
#else
    while (*p != delimiter && *p != '\n') ++p;
    return p;
#endif
}

/// Takes out escapes and second quotes, in place; returns the new text.
std::string_view unescape_csv(CsvField& field, char escape = '\0') noexcept;

/// Appends `text`, quoted if it holds the delimiter, a quote, a newline or a '\r'.
void append_csv_field(std::string& out, std::string_view text, char delimiter);

/// Throws GraphError for a `delimiter` that numbers, quotes or newlines may contain.
void check_csv_delimiter(char delimiter);

}  // namespace strid
