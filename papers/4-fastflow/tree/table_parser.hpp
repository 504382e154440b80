// SPDX-License-Identifier: Apache-2.0
//
// From blocks of CSV to a table: parse() takes a block, in any thread, and TableBuilder puts the
// parsed blocks together, in their order. A column is numeric where each of its values is a number;
// where one is not, blocks that had numbers only are cut once more for their texts.
//
// Threads: parse() of one parser may run in several at once; a builder is for one, but
// build_column() may run for several columns at once.
//
// Invariant: the table does not depend on where blocks begin, nor on which thread parsed which.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "csv_blocks.hpp"
#include "table.hpp"

namespace strid::tree {

/// The words that say that a value is not known; an empty field always does.
struct MissingWords {
    std::vector<std::string> words = {"?", "NA"};

    [[nodiscard]] bool contains(std::string_view trimmed) const noexcept {
        return trimmed.empty() || std::ranges::find(words, trimmed) != words.end();
    }
};

struct ReadingOptions {
    std::string target = {};
    std::string weights = {};  // the column of the weights; empty: each row weighs 1
    std::vector<std::string> categorical = {};
    std::vector<std::string> numeric = {};
    std::vector<std::string> ignored = {};
    MissingWords missing = {};
    char delimiter = ',';
};

/// A text that a block has in a column, and the line where it has it first.
struct Word {
    std::string text = {};
    std::uint64_t line = 0;
};

struct ParsedColumn {
    bool is_numeric = true;
    std::vector<double> numbers = {};
    std::vector<std::uint32_t> codes = {};
    std::vector<Word> words = {};  // by code
};

struct ParsedBlock {
    CsvBlock block = {};
    std::size_t rows = 0;
    std::vector<ParsedColumn> columns = {};  // by column of the input
    std::exception_ptr failure = {};         // of the first row that is malformed
};

/// Which columns the table is made of.
class TableParser {
  public:
    /// Throws InputOutputError where the header has no such column, GraphError where a column is
    /// asked for twice.
    TableParser(const CsvBlocks& input, const ReadingOptions& options);

    [[nodiscard]] ParsedBlock parse(CsvBlock block) const;
    /// The texts of a column, of which the block has numbers only.
    void parse_words(ParsedBlock& parsed, std::size_t column) const;

    enum class Kind : unsigned char { found, numeric, categorical, ignored, weight };
    struct InputColumn {
        std::string name = {};
        Kind kind = Kind::found;
    };
    [[nodiscard]] const std::vector<InputColumn>& columns() const noexcept { return columns_; }
    [[nodiscard]] std::size_t target() const noexcept { return target_; }
    /// The column of the weights.
    [[nodiscard]] std::optional<std::size_t> weights() const noexcept { return weights_; }
    [[nodiscard]] bool target_is_categorical() const noexcept { return target_is_categorical_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const MissingWords& missing() const noexcept { return missing_; }

  private:
    [[nodiscard]] std::size_t find(const CsvBlocks& input, const std::string& column,
                                   const char* option) const;
    void set_kind(const CsvBlocks& input, const std::vector<std::string>& names, Kind kind,
                  const char* option);
    void parse_rows(ParsedBlock& parsed) const;
    [[nodiscard]] bool add_number(BlockRows& rows, std::size_t column,
                                  std::vector<double>& numbers) const;

    std::string name_;
    char delimiter_;
    MissingWords missing_;
    std::vector<InputColumn> columns_;
    std::size_t target_ = 0;
    std::optional<std::size_t> weights_;
    bool target_is_categorical_ = false;
    // Columns of which some thread has seen a text that is no number: the blocks that are parsed
    // after that need not try. Relaxed: a hint.
    std::unique_ptr<std::atomic<bool>[]> has_texts_;
};

class TableBuilder {
  public:
    explicit TableBuilder(const TableParser& parser) : parser_(parser) {}

    /// The next block. Throws what parsing it threw.
    void add(ParsedBlock parsed);
    /// After the last: settles the kinds of the columns and the classes. Throws InputOutputError
    /// where nothing can be learned.
    void settle();
    /// The number of attributes, after settle().
    [[nodiscard]] std::size_t attributes() const noexcept { return inputs_.size(); }
    /// Fills in one attribute; different ones in different threads.
    void build_column(std::size_t attribute);
    /// After all attributes were built.
    [[nodiscard]] Table take() { return std::move(table_); }

  private:
    void settle_kind(std::size_t column);
    void remark_on_words(std::size_t column);
    void read_weights();
    void read_classes();
    void check_classes(const std::vector<std::string>& names, bool is_numeric) const;
    void build_numbers(std::size_t column, Column& built) const;
    std::vector<std::string> build_codes(std::size_t column, std::vector<std::uint32_t>& codes);

    const TableParser& parser_;
    std::vector<ParsedBlock> blocks_;
    std::vector<bool> is_numeric_;     // by column of the input
    std::vector<std::size_t> inputs_;  // by attribute
    std::vector<bool> left_out_;       // rows without a class or of weight 0; empty: none
    std::size_t rows_ = 0;
    Table table_;
};

/// All of it in the thread that calls.
[[nodiscard]] Table read_table(CsvBlocks& input, const ReadingOptions& options);

}  // namespace strid::tree
