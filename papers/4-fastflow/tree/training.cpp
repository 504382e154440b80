// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

#include <algorithm>
#include <bit>

#include <boost/sort/spreadsort/integer_sort.hpp>

namespace strid::tree {

namespace {

constexpr std::size_t tabled_max = std::size_t{1} << 20;
constexpr double many_values_per_row = 0.3;

struct Keyed {
    std::uint64_t key;
    std::uint32_t row;
};

/// Unsigned numbers in the order of the doubles; -0 and 0 are one.
std::uint64_t key_of(double number) noexcept {
    const auto bits = std::bit_cast<std::uint64_t>(number + 0.0);
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

std::vector<Keyed> sorted_rows(const std::vector<double>& numbers) {
    std::vector<Keyed> rows;
    rows.reserve(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (numbers[i] == numbers[i]) {
            rows.push_back({key_of(numbers[i]), static_cast<std::uint32_t>(i)});
        }
    }
    boost::sort::spreadsort::integer_sort(
        rows.begin(), rows.end(), [](const Keyed& row, unsigned shift) { return row.key >> shift; },
        [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
    return rows;
}

}  // namespace

Training::Training(const Table& table, const GrowthOptions& options,
                   const std::atomic<bool>& interrupted)
    : table_(table),
      options_(options),
      interrupted_(interrupted),
      orders_(table.columns.size()),
      weight_(table.weight()) {
    n_log_n_.resize(std::min(table.rows() + 1, tabled_max));
    for (std::size_t n = 1; n < n_log_n_.size(); ++n) n_log_n_[n] = n_log_n(static_cast<double>(n));
    all_many_valued_ = true;
    for (std::size_t i = 0; i < attributes(); ++i) {
        all_many_valued_ = all_many_valued_ && has_many_values(i);
    }
}

bool Training::has_many_values(std::size_t attribute) const noexcept {
    const Attribute& what = table_.schema.attributes[attribute];
    return !what.is_numeric &&
           static_cast<double>(what.values.size()) >= many_values_per_row * weight_;
}

void Training::prepare(std::size_t attribute) {
    if (!is_numeric(attribute)) return;
    Order& order = orders_[attribute];
    std::vector<Keyed> rows = sorted_rows(table_.columns[attribute].numbers);
    order.entries.reserve(rows.size());
    const auto by_row = [](const Keyed& a, const Keyed& b) { return a.row < b.row; };
    for (auto first = rows.begin(); first != rows.end();) {
        const auto last = std::find_if(first, rows.end(),
                                       [first](const Keyed& row) { return row.key != first->key; });
        std::sort(first, last, by_row);
        const auto code = static_cast<std::uint32_t>(order.distinct.size());
        order.distinct.push_back(table_.columns[attribute].numbers[first->row] + 0.0);
        for (; first != last; ++first) order.entries.push_back({code, first->row});
    }
}

}  // namespace strid::tree
