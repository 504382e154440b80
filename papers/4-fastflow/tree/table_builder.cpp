// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_value.hpp>
#include <strid/engine/base/excerpt.hpp>

#include "table_parser.hpp"

namespace strid::tree {

namespace {

constexpr std::size_t numeric_classes_max = 100;

enum class Likeness : unsigned char { number, odd_number, name };

/// "nan", "inf" and 1e999 are odd numbers.
Likeness likeness_of(std::string_view text) {
    double number = 0;
    if (detail::read_floating(text, number, NonFinite::reject) == nullptr) return Likeness::number;
    const auto fault = detail::read_floating(text, number, NonFinite::accept);
    const bool is_odd = fault == nullptr || std::string_view(fault) == "out of range";
    return is_odd ? Likeness::odd_number : Likeness::name;
}

}  // namespace

void TableBuilder::add(ParsedBlock parsed) {
    if (parsed.failure) std::rethrow_exception(parsed.failure);
    rows_ += parsed.rows;
    if (rows_ > rows_max) {
        throw InputOutputError(
            fmt::format("{}: more than {} rows", excerpt(parser_.name(), 4096), rows_max));
    }
    blocks_.push_back(std::move(parsed));
}

// Numeric where every block has numbers. A column of numbers and words such as "nan" is a mistake
// rather than a column of names.
void TableBuilder::settle_kind(std::size_t column) {
    const auto kind = parser_.columns()[column].kind;
    bool is_numeric = kind != TableParser::Kind::categorical;
    for (const ParsedBlock& block : blocks_) {
        is_numeric = is_numeric && block.columns[column].is_numeric;
    }
    is_numeric_[column] = is_numeric;
    if (is_numeric || kind == TableParser::Kind::categorical) return;
    const Word* odd = nullptr;
    for (const ParsedBlock& block : blocks_) {
        for (const Word& word : block.columns[column].words) {
            const Likeness likeness = likeness_of(word.text);
            if (likeness == Likeness::name) return remark_on_words(column);
            if (likeness == Likeness::odd_number && odd == nullptr) odd = &word;
        }
    }
    if (odd == nullptr) return;
    fail_at_line(parser_.name(), odd->line,
                 fmt::format("column '{}': not a finite number: \"{}\" (--missing names the "
                             "words for a missing value; --categorical takes numbers as names)",
                             excerpt(parser_.columns()[column].name), excerpt(odd->text)));
}

// A column with a few words among numbers is taken as one of names, which is seldom meant.
void TableBuilder::remark_on_words(std::size_t column) {
    std::set<std::string_view> numbers;
    std::map<std::string_view, std::uint64_t> names;  // and where each stands first
    bool is_mostly_numbers = false;
    for (const ParsedBlock& block : blocks_) {
        // Of a whole block of numbers no words were kept.
        is_mostly_numbers = is_mostly_numbers || block.columns[column].is_numeric;
        for (const Word& word : block.columns[column].words) {
            if (likeness_of(word.text) == Likeness::number) {
                numbers.insert(word.text);
            } else {
                names.emplace(word.text, word.line);
            }
        }
    }
    is_mostly_numbers = is_mostly_numbers || numbers.size() > names.size();
    if (!is_mostly_numbers) return;
    const auto first =
        std::ranges::min_element(names, {}, [](const auto& name) { return name.second; });
    const std::string shown = excerpt(parser_.columns()[column].name);
    table_.remarks.push_back(fmt::format(
        "{0}:{1}: column '{2}': \"{3}\" is no number, so that all of the column are names: "
        "--missing {3} if it stands for a missing value, --categorical {2} if they are names",
        excerpt(parser_.name(), 4096), first->second, shown, excerpt(first->first)));
}

void TableBuilder::check_classes(const std::vector<std::string>& names, bool is_numeric) const {
    const auto& column = parser_.columns()[parser_.target()].name;
    const std::string where =
        fmt::format("{}: target '{}'", excerpt(parser_.name(), 4096), excerpt(column));
    if (rows_ == 0) {
        throw InputOutputError(fmt::format("{}: no rows", excerpt(parser_.name(), 4096)));
    }
    if (names.empty()) throw InputOutputError(where + ": no row has a class");
    if (names.size() == 1) {
        throw InputOutputError(
            fmt::format("{}: all rows have the class '{}': nothing to distinguish", where,
                        excerpt(names.front())));
    }
    if (is_numeric && names.size() > numeric_classes_max && !parser_.target_is_categorical()) {
        throw InputOutputError(
            fmt::format("{}: {} different numbers are no classes (--categorical {} takes them as "
                        "names)",
                        where, names.size(), excerpt(column)));
    }
    if (names.size() > classes_max) {
        throw InputOutputError(
            fmt::format("{}: {} classes, more than {}", where, names.size(), classes_max));
    }
}

void TableBuilder::read_classes() {
    std::vector<std::uint32_t> codes;
    std::vector<std::string> names = build_codes(parser_.target(), codes);
    const bool is_numeric = std::all_of(names.begin(), names.end(), [](const std::string& name) {
        return likeness_of(name) != Likeness::name;
    });
    check_classes(names, is_numeric);
    table_.schema.target = parser_.columns()[parser_.target()].name;
    table_.schema.classes = std::move(names);
    table_.rows_without_class = static_cast<std::size_t>(std::ranges::count(codes, missing_code));
    if (table_.rows_without_class != 0) left_out_.resize(codes.size());
    table_.classes.reserve(codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i) {
        if (codes[i] == missing_code) left_out_[i] = true;
        if (left_out_.empty() || !left_out_[i]) {
            table_.classes.push_back(static_cast<ClassCode>(codes[i]));
        }
    }
}

// Before the classes: a row of weight 0 is as one that is not there.
void TableBuilder::read_weights() {
    if (!parser_.weights()) return;
    std::size_t row = 0;
    for (const ParsedBlock& block : blocks_) {
        for (const double weight : block.columns[*parser_.weights()].numbers) {
            if (weight == 0) {
                left_out_.resize(rows_);
                left_out_[row] = true;
                ++table_.rows_without_weight;
            }
            ++row;
        }
    }
}

void TableBuilder::settle() {
    const auto& columns = parser_.columns();
    is_numeric_.resize(columns.size());
    read_weights();
    read_classes();
    if (parser_.weights()) {
        Column weights;
        build_numbers(*parser_.weights(), weights);
        table_.weights = std::move(weights.numbers);
        if (!std::isfinite(table_.weight()) || table_.rows() == 0) {
            throw InputOutputError(fmt::format("{}: --weights: the rows weigh {}",
                                               excerpt(parser_.name(), 4096), table_.weight()));
        }
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i == parser_.target() || i == parser_.weights() ||
            columns[i].kind == TableParser::Kind::ignored) {
            continue;
        }
        settle_kind(i);
        inputs_.push_back(i);
        table_.schema.attributes.push_back({columns[i].name, is_numeric_[i], {}});
    }
    if (inputs_.empty()) {
        throw InputOutputError(fmt::format("{}: no column beside the target '{}'",
                                           excerpt(parser_.name(), 4096),
                                           excerpt(table_.schema.target)));
    }
    table_.columns.resize(inputs_.size());
}

void TableBuilder::build_column(std::size_t attribute) {
    const std::size_t input = inputs_[attribute];
    // The parsed text is freed here, where other columns are freed at the same time.
    struct Release {
        std::vector<ParsedBlock>& blocks;
        std::size_t column;
        ~Release() {
            for (ParsedBlock& block : blocks) block.columns[column] = {};
        }
    } release{blocks_, input};
    Column& built = table_.columns[attribute];
    if (is_numeric_[input]) {
        build_numbers(input, built);
        return;
    }
    std::vector<std::uint32_t> codes;
    table_.schema.attributes[attribute].values = build_codes(input, codes);
    if (!left_out_.empty()) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < codes.size(); ++i) {
            if (!left_out_[i]) codes[kept++] = codes[i];
        }
        codes.resize(kept);
    }
    built.codes = std::move(codes);
}

void TableBuilder::build_numbers(std::size_t column, Column& built) const {
    built.numbers.reserve(table_.rows());
    std::size_t row = 0;
    for (const ParsedBlock& block : blocks_) {
        for (const double number : block.columns[column].numbers) {
            if (left_out_.empty() || !left_out_[row]) built.numbers.push_back(number);
            ++row;
        }
    }
}

// The names of a column in order of their bytes, and for each row the index of its name.
std::vector<std::string> TableBuilder::build_codes(std::size_t column,
                                                   std::vector<std::uint32_t>& codes) {
    std::map<std::string_view, std::uint32_t> names;
    for (ParsedBlock& block : blocks_) {
        if (block.columns[column].is_numeric) {
            parser_.parse_words(block, column);
        }
        for (const Word& word : block.columns[column].words) names.emplace(word.text, 0);
    }
    std::vector<std::string> sorted;
    sorted.reserve(names.size());
    for (auto& [name, code] : names) {
        code = static_cast<std::uint32_t>(sorted.size());
        sorted.emplace_back(name);
    }
    codes.reserve(rows_);
    std::vector<std::uint32_t> code_of;
    for (const ParsedBlock& block : blocks_) {
        code_of.clear();
        for (const Word& word : block.columns[column].words) code_of.push_back(names[word.text]);
        for (const std::uint32_t code : block.columns[column].codes) {
            codes.push_back(code == missing_code ? missing_code : code_of[code]);
        }
    }
    return sorted;
}

}  // namespace strid::tree
