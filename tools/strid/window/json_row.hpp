// SPDX-License-Identifier: Apache-2.0
//
// The members of one JSON object (RFC 8259) that stand for the columns of a row, as texts: what a
// CSV field would hold. A string is what it means, a number, true and false are as they are
// written, so an integer of any size is exact. `a.b` names the member `b` of the object `a`, or a
// member whose own name is `a.b`. Of members with the same name the last counts. Where a column may
// be null or missing, that is an empty text.
//
// Texts point into the line; a string with escapes is unescaped in place, so the line is no longer
// what it was. Objects and arrays that nobody asked for are passed over by their brackets only.
//
// Threads: one. A copy has a parser of its own.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strid::tool {

struct JsonColumn {
    std::string name;
    bool may_be_null;
    bool may_be_missing;
};

class JsonRow {
  public:
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
        return found_[column].text;
    }
    [[nodiscard]] const std::string& name(std::size_t column) const noexcept {
        return columns_[column].name;
    }

  private:
    struct Reader;
    struct Found {
        std::string_view text;
        const char* fault;  // why the member is no text; null: it is
    };

    std::vector<JsonColumn> columns_;
    std::vector<Found> found_;
    std::unique_ptr<Reader> reader_;
};

}  // namespace strid::tool
