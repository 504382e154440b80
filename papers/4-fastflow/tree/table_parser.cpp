// SPDX-License-Identifier: Apache-2.0
#include "table_parser.hpp"

#include <functional>
#include <limits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/hash.hpp>
#include <strid/connector/csv_value.hpp>
#include <strid/engine/base/excerpt.hpp>
#include <strid/program/arguments.hpp>

namespace strid::tree {

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// The texts of one column of a block, numbered as they come.
class Dictionary {
  public:
    explicit Dictionary(std::vector<Word>& words) : words_(words) {}

    std::uint32_t code(std::string_view text, std::uint64_t line) {
        if (last_ < words_.size() && words_[last_].text == text) return last_;
        const auto found = codes_.find(text);
        if (found != codes_.end()) return last_ = found->second;
        last_ = static_cast<std::uint32_t>(words_.size());
        words_.push_back({std::string(text), line});
        codes_.emplace(text, last_);
        return last_;
    }

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return static_cast<std::size_t>(hash_of(text));
        }
    };

    std::vector<Word>& words_;
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> codes_;
    std::uint32_t last_ = 0;
};

/// The columns of a block that are kept as texts.
class TextColumns {
  public:
    TextColumns(ParsedBlock& parsed, const MissingWords& missing, std::vector<std::size_t> columns)
        : parsed_(parsed), missing_(missing), columns_(std::move(columns)) {
        for (const std::size_t column : columns_) {
            ParsedColumn& texts = parsed.columns[column];
            texts.is_numeric = false;
            texts.numbers = {};
            dictionaries_.emplace_back(texts.words);
        }
    }

    void add(BlockRows& rows) {
        for (std::size_t k = 0; k < columns_.size(); ++k) {
            const std::string_view text = detail::trimmed(rows.field(columns_[k]));
            parsed_.columns[columns_[k]].codes.push_back(
                missing_.contains(text) ? missing_code : dictionaries_[k].code(text, rows.line()));
        }
    }

  private:
    ParsedBlock& parsed_;
    const MissingWords& missing_;
    std::vector<std::size_t> columns_;
    std::vector<Dictionary> dictionaries_;
};

}  // namespace

TableParser::TableParser(const CsvBlocks& input, const ReadingOptions& options)
    : name_(input.name()), delimiter_(input.delimiter()), missing_(options.missing) {
    for (const std::string& name : input.names()) columns_.push_back({name});
    has_texts_ = std::make_unique<std::atomic<bool>[]>(columns_.size());
    target_ = find(input, options.target, "--target");
    if (!options.weights.empty()) {
        set_kind(input, {options.weights}, Kind::weight, "--weights");
        weights_ = find(input, options.weights, "--weights");
    }
    set_kind(input, options.ignored, Kind::ignored, "--ignore");
    set_kind(input, options.categorical, Kind::categorical, "--categorical");
    set_kind(input, options.numeric, Kind::numeric, "--numeric");
    InputColumn& target = columns_[target_];
    if (target.kind == Kind::weight) {
        throw GraphError(
            fmt::format("--weights '{}': the column holds the classes", excerpt(target.name)));
    }
    if (target.kind == Kind::ignored || target.kind == Kind::numeric) {
        throw GraphError(
            fmt::format("--target '{}': the classes are names, neither ignored nor numeric",
                        excerpt(target.name)));
    }
    target_is_categorical_ = target.kind == Kind::categorical;
    target.kind = Kind::categorical;
}

std::size_t TableParser::find(const CsvBlocks& input, const std::string& column,
                              const char* option) const {
    if (const auto place = input.place_of(column)) return *place;
    throw InputOutputError(fmt::format("{}: {}: no column '{}' in the header{}",
                                       excerpt(name_, 4096), option, excerpt(column),
                                       suggestion(column, input.names())));
}

void TableParser::set_kind(const CsvBlocks& input, const std::vector<std::string>& names, Kind kind,
                           const char* option) {
    for (const std::string& name : names) {
        InputColumn& column = columns_[find(input, name, option)];
        if (column.kind != Kind::found) {
            throw GraphError(
                fmt::format("{} '{}': the column was named before", option, excerpt(name)));
        }
        column.kind = kind;
    }
}

ParsedBlock TableParser::parse(CsvBlock block) const {
    ParsedBlock parsed;
    parsed.block = std::move(block);
    parsed.columns.resize(columns_.size());
    try {
        parse_rows(parsed);
    } catch (const InputOutputError&) {
        parsed.failure = std::current_exception();
    }
    return parsed;
}

void TableParser::parse_rows(ParsedBlock& parsed) const {
    std::vector<std::size_t> numeric;
    std::vector<std::size_t> texts;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const Kind kind = columns_[i].kind;
        if (kind == Kind::ignored) continue;
        const bool is_text = kind == Kind::categorical ||
                             (kind == Kind::found && has_texts_[i].load(std::memory_order_relaxed));
        (is_text ? texts : numeric).push_back(i);
    }
    TextColumns words(parsed, missing_, texts);
    std::vector<std::size_t> found_texts;  // columns that were thought to be of numbers
    BlockRows rows(parsed.block, name_, delimiter_, columns_.size());
    while (rows.next()) {
        ++parsed.rows;
        words.add(rows);
        for (std::size_t k = 0; k < numeric.size();) {
            const std::size_t column = numeric[k];
            if (add_number(rows, column, parsed.columns[column].numbers)) {
                ++k;
                continue;
            }
            has_texts_[column].store(true, std::memory_order_relaxed);
            found_texts.push_back(column);
            numeric.erase(numeric.begin() + static_cast<std::ptrdiff_t>(k));
        }
    }
    for (const std::size_t column : found_texts) parse_words(parsed, column);
}

// False where the column may be one of texts, and is.
bool TableParser::add_number(BlockRows& rows, std::size_t column,
                             std::vector<double>& numbers) const {
    const std::string_view text = detail::trimmed(rows.field(column));
    double number = no_number;
    if (!missing_.contains(text)) {
        const auto fault = detail::read_floating(text, number, NonFinite::reject);
        if (fault != nullptr) {
            if (columns_[column].kind == Kind::found) return false;
            fail_at_line(name_, rows.line(),
                         fmt::format("column '{}': {}: \"{}\"", excerpt(columns_[column].name),
                                     fault, excerpt(text)));
        }
    }
    if (columns_[column].kind == Kind::weight && !(number >= 0)) {
        fail_at_line(name_, rows.line(),
                     fmt::format("column '{}': \"{}\" is no weight, a number from 0 up",
                                 excerpt(columns_[column].name), excerpt(text)));
    }
    numbers.push_back(number);
    return true;
}

void TableParser::parse_words(ParsedBlock& parsed, std::size_t column) const {
    TextColumns words(parsed, missing_, {column});
    BlockRows rows(parsed.block, name_, delimiter_, columns_.size());
    while (rows.next()) words.add(rows);
}

Table read_table(CsvBlocks& input, const ReadingOptions& options) {
    const TableParser parser(input, options);
    TableBuilder builder(parser);
    CsvBlock block;
    while (input.next(block)) builder.add(parser.parse(std::move(block)));
    builder.settle();
    for (std::size_t i = 0; i < builder.attributes(); ++i) builder.build_column(i);
    return builder.take();
}

}  // namespace strid::tree
