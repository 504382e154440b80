// SPDX-License-Identifier: Apache-2.0
//
// A table made ready for growing a tree: the numbers of each attribute sorted once, so that no node
// sorts. Read by any thread after it is prepared; prepare() fills in one attribute, different ones
// in different threads.
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "table.hpp"

namespace strid::tree {

struct GrowthOptions {
    /// Two branches of a split have cases of this weight at least.
    double cases_min = 2;
};

/// One case in the order of an attribute: its number is the one with this code among the distinct
/// ones, and `item` is its place in the node.
struct Entry {
    std::uint32_t code;
    std::uint32_t item;
};

class Training {
  public:
    /// `table` must outlive it.
    Training(const Table& table, const GrowthOptions& options,
             const std::atomic<bool>& interrupted);

    void prepare(std::size_t attribute);

    [[nodiscard]] const Table& table() const noexcept { return table_; }
    [[nodiscard]] const GrowthOptions& options() const noexcept { return options_; }
    [[nodiscard]] std::size_t classes() const noexcept { return table_.schema.classes.size(); }
    [[nodiscard]] std::size_t attributes() const noexcept { return table_.columns.size(); }
    [[nodiscard]] bool is_numeric(std::size_t attribute) const noexcept {
        return table_.schema.attributes[attribute].is_numeric;
    }
    /// The cases whose number is known, by number and then by row.
    [[nodiscard]] const std::vector<Entry>& order(std::size_t attribute) const noexcept {
        return orders_[attribute].entries;
    }
    /// The different numbers of an attribute, by code.
    [[nodiscard]] const std::vector<double>& distinct(std::size_t attribute) const noexcept {
        return orders_[attribute].distinct;
    }
    /// A categorical attribute has many values for the number of rows: C4.5 leaves its gain out of
    /// the average, unless all attributes are of that kind.
    [[nodiscard]] bool counts_in_average(std::size_t attribute) const noexcept {
        return all_many_valued_ || !has_many_values(attribute);
    }
    [[nodiscard]] const std::atomic<bool>& interrupted() const noexcept { return interrupted_; }

    /// n log2 n.
    [[nodiscard]] double n_log_n(std::uint32_t n) const noexcept {
        return n < n_log_n_.size() ? n_log_n_[n] : n_log_n(static_cast<double>(n));
    }
    [[nodiscard]] double n_log_n(double n) const noexcept {
        return n > rounding ? n * std::log2(n) : 0;
    }

    /// Sums of weights that differ by less are equal.
    static constexpr double rounding = 1e-9;

  private:
    struct Order {
        std::vector<double> distinct;
        std::vector<Entry> entries;
    };

    [[nodiscard]] bool has_many_values(std::size_t attribute) const noexcept;

    const Table& table_;
    GrowthOptions options_;
    const std::atomic<bool>& interrupted_;
    std::vector<Order> orders_;
    std::vector<double> n_log_n_;
    double weight_;  // of all rows
    bool all_many_valued_;
};

}  // namespace strid::tree
