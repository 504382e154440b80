// SPDX-License-Identifier: Apache-2.0
//
// A table to learn from: columns of numbers and of names, and a class for each row. Plain values;
// any thread reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace strid::tree {

using ClassCode = std::uint16_t;

inline constexpr std::uint32_t missing_code = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::size_t rows_max = std::numeric_limits<std::uint32_t>::max() / 2;
inline constexpr std::size_t classes_max = std::numeric_limits<ClassCode>::max();

struct Attribute {
    std::string name = {};
    bool is_numeric = true;
    std::vector<std::string> values = {};  // of a categorical attribute, in order of their bytes

    bool operator==(const Attribute&) const = default;
};

/// The description of the table that a tree was learned from.
struct Schema {
    std::string target = {};
    std::vector<std::string> classes = {};  // in order of their bytes
    std::vector<Attribute> attributes = {};

    bool operator==(const Schema&) const = default;
};

/// One of them is in use, by the kind of the attribute.
struct Column {
    std::vector<double> numbers = {};       // NaN: missing
    std::vector<std::uint32_t> codes = {};  // index of a value; missing_code: missing
};

struct Table {
    Schema schema = {};
    std::vector<Column> columns = {};  // by attribute
    std::vector<ClassCode> classes = {};
    std::vector<double> weights = {};       // above 0; empty: all are 1
    std::size_t rows_without_class = 0;     // left out
    std::size_t rows_without_weight = 0;    // of weight 0, left out
    std::vector<std::string> remarks = {};  // for the user: what is seldom meant

    [[nodiscard]] std::size_t rows() const noexcept { return classes.size(); }
    /// The weight of all rows.
    [[nodiscard]] double weight() const noexcept;
};

/// The rows of the table that are named, in that order; the schema is that of the whole.
[[nodiscard]] Table subset(const Table& table, const std::vector<std::uint32_t>& rows);

}  // namespace strid::tree
