// SPDX-License-Identifier: Apache-2.0
//
// The JSON objects in the text of a FileSource, one after the other: cut (json_cutter.hpp), read
// (json_row.hpp), and refused as the source's policy has it. A part of a source of JSON, or of a
// table whose format the input shows.
//
// Invariant: after cut() the source is behind the object, whose text stands unchanged until read().
//
// Threads: as the source.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <strid/connector/csv_value.hpp>
#include <strid/engine/connector/file_source.hpp>
#include <strid/engine/connector/json_cutter.hpp>
#include <strid/engine/connector/json_row.hpp>

namespace strid {

class JsonObjects {
  public:
    /// `keeps_text`: refused objects are reported as they stood, and reading changes escapes.
    /// Throws GraphError for names that cannot be looked for.
    JsonObjects(std::vector<JsonColumn> columns, bool keeps_text)
        : keeps_text_(keeps_text), row_(std::move(columns)) {}

    /// The text that comes next is another input's.
    void begin_input() noexcept { cutter_.forget(); }
    /// As FileSource::RowsOfLines::skip_to_line().
    void skip_to_line(std::uint64_t line) noexcept { cutter_.skip_to_line(line); }
    /// Whether each object has a line of its own, so that tasks may parse ranges.
    [[nodiscard]] static bool are_lines(const FileSource& source) noexcept {
        return source.reader_->region_end() == '\n';
    }
    /// Passes the next object. `ready`: text() is it.
    FileSource::Row cut(FileSource& source);
    /// After cut(): `ready`: its columns have texts.
    FileSource::Row read(FileSource& source);
    /// The object as it stands in the input.
    [[nodiscard]] std::string_view text() const noexcept { return text_; }
    /// The text of a column; a null is empty.
    [[nodiscard]] std::string_view text_of(std::size_t column) const noexcept {
        return row_.text(column);
    }

    /// Refuses the object that was read.
    void refuse(FileSource& source, std::string_view reason);
    /// The same because of a column.
    void refuse_column(FileSource& source, std::size_t column, detail::CsvFault fault);
    /// Refuses what the input ends in, or an object that is too long.
    void refuse_rest(FileSource& source);

  private:
    bool keeps_text_;
    JsonCutter cutter_;
    JsonRow row_;
    char* begin_ = nullptr;
    std::string_view text_;
    std::string as_it_stood_;
};

}  // namespace strid
