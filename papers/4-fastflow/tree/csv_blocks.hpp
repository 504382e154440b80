// SPDX-License-Identifier: Apache-2.0
//
// A table as CSV (RFC 4180, with a header), cut into blocks of whole rows that may be parsed at
// once. CsvBlocks owns the input and reads it in order; a block keeps its text alive.
//
// Threads: CsvBlocks is for one at a time; blocks may be read anywhere, by several at once.
//
// Invariant: blocks follow each other without a gap, each begins at the first byte of a row, and a
// row is in one block, also where a quoted field of it holds newlines.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <strid/engine/connector/csv_row.hpp>
#include <strid/engine/connector/line_reader.hpp>

namespace strid::tree {

struct CsvBlock {
    // Of its own: a vector load at its end would race with what is read next into a shared chunk.
    std::unique_ptr<char[]> text = {};
    char* begin = nullptr;
    char* end = nullptr;
    std::uint64_t line = 0;  // of `begin`, counted from 1
};

class CsvBlocks {
  public:
    /// Opens `path` ("-": standard input) and reads the header. Throws InputOutputError;
    /// Interrupted once `interrupted` is set.
    CsvBlocks(std::string path, char delimiter, const std::atomic<bool>& interrupted);

    /// The names of the columns; one that has no name in the header is "column N".
    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
    /// The place of a column; none where there is no such name.
    [[nodiscard]] std::optional<std::size_t> place_of(const std::string& name) const {
        const auto found = places_.find(name);
        return found == places_.end() ? std::nullopt : std::optional(found->second);
    }
    /// The header as it stands in the input, without its newline.
    [[nodiscard]] const std::string& header() const noexcept { return header_; }
    /// The name of the input for messages.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] char delimiter() const noexcept { return delimiter_; }

    /// The next block; false at the end of the input.
    [[nodiscard]] bool next(CsvBlock& block);

    [[nodiscard]] std::uint64_t bytes_read() const noexcept { return reader_.bytes().bytes_read(); }
    [[nodiscard]] std::uint64_t size_bytes() const noexcept { return reader_.bytes().size_bytes(); }

  private:
    void read_header();
    [[nodiscard]] bool more();
    [[nodiscard]] char* end_of_rows();
    [[noreturn]] void fail(std::uint64_t line, const std::string& what) const;

    std::string name_;
    char delimiter_;
    const std::atomic<bool>& interrupted_;
    LineReader reader_;
    CsvRowCutter cutter_;
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::size_t> places_;  // of the names
    std::string header_;
    char* position_ = nullptr;
    std::uint64_t line_ = 1;
};

/// Cuts the rows of a block, which have `fields` fields each; blank lines are passed over.
class BlockRows {
  public:
    BlockRows(const CsvBlock& block, const std::string& name, char delimiter, std::size_t fields)
        : name_(name),
          end_(block.end),
          next_(block.begin),
          next_line_(block.line),
          fields_(fields),
          delimiter_(delimiter) {}

    /// The next row; false at the end of the block. Throws InputOutputError that names the line.
    [[nodiscard]] bool next();
    /// Field `column` of the row, quotes taken off; until the next call.
    [[nodiscard]] std::string_view field(std::size_t column) {
        const CsvField& field = cutter_.fields()[column];
        return field.escaped ? unescaped(field) : field.text();
    }
    [[nodiscard]] std::uint64_t line() const noexcept { return line_; }
    /// The row as it stands in the input, without its newline.
    [[nodiscard]] std::string_view text() const noexcept { return text_; }

  private:
    [[nodiscard]] std::string_view unescaped(const CsvField& field);

    const std::string& name_;
    char* end_;
    char* next_;
    std::uint64_t next_line_;
    std::size_t fields_;
    char delimiter_;
    CsvRowCutter cutter_;
    std::uint64_t line_ = 0;
    std::string_view text_;
    std::string unescaped_;
};

/// Throws InputOutputError "FILE:LINE: what".
[[noreturn]] void fail_at_line(const std::string& name, std::uint64_t line,
                               const std::string& what);

}  // namespace strid::tree
