// SPDX-License-Identifier: Apache-2.0
//
// The members of one JSON object (RFC 8259) that are the columns of a row, as texts like CSV
// fields. A string is given without quotes and escapes. A number, true and false are given as they
// are written, so an integer of any size is exact. Where a column may be null or missing, its text
// is then empty.
//
// Invariant: read() takes a text that is one JSON object, valid to its last byte whatever was asked
// for (escapes, numbers and UTF-8 included), not nested deeper than depth_max, and refuses every
// other.
//
// `a.b` is the member whose own name is `a.b`, or else the member `b` of the object `a`; where
// several such ways lead to a member, the one that begins with the longest name. Of members with
// the same name the last counts, as in Python and in browsers, so {"a":{"b":1},"a":5} has no a.b.
// The order of members with different names means nothing.
//
// Texts point into the line; a string with escapes is unescaped in place, so the line is no longer
// what it was. Threads: one. A copy has a parser of its own.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strid {

struct JsonColumn {
    std::string name;
    bool may_be_null;
    bool may_be_missing;
};

class JsonRow {
  public:
    static constexpr std::size_t depth_max = 1000;
    /// Each dot doubles the ways that a name can be meant.
    static constexpr std::size_t dots_max = 10;

    /// Throws GraphError for a name with more than dots_max dots.
    explicit JsonRow(std::vector<JsonColumn> columns);
    JsonRow(const JsonRow& other);
    JsonRow(JsonRow&& other) noexcept;
    JsonRow& operator=(const JsonRow&) = delete;
    ~JsonRow();

    /// Reads the line, after which `LineReader::slack_bytes` bytes may be read. Empty: text() has
    /// every column. Else what is wrong with the line, which may be changed all the same.
    [[nodiscard]] std::string read(char* line, std::size_t bytes);
    /// Of the last line that read() had no fault with.
    [[nodiscard]] std::string_view text(std::size_t column) const noexcept {
        return texts_[column];
    }
    [[nodiscard]] const std::string& name(std::size_t column) const noexcept {
        return columns_[column].name;
    }

  private:
    struct Reader;

    std::vector<JsonColumn> columns_;
    std::vector<std::string_view> texts_;
    std::unique_ptr<Reader> reader_;
};

}  // namespace strid
