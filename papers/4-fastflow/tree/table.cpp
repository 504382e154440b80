// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <numeric>

namespace strid::tree {

double Table::weight() const noexcept {
    if (weights.empty()) return static_cast<double>(rows());
    return std::accumulate(weights.begin(), weights.end(), 0.0);
}

Table subset(const Table& table, const std::vector<std::uint32_t>& rows) {
    Table part;
    part.schema = table.schema;
    part.columns.resize(table.columns.size());
    const auto pick = [&rows](const auto& from, auto& to) {
        if (from.empty()) return;
        to.reserve(rows.size());
        for (const std::uint32_t row : rows) to.push_back(from[row]);
    };
    for (std::size_t i = 0; i < part.columns.size(); ++i) {
        pick(table.columns[i].numbers, part.columns[i].numbers);
        pick(table.columns[i].codes, part.columns[i].codes);
    }
    pick(table.classes, part.classes);
    pick(table.weights, part.weights);
    return part;
}

}  // namespace strid::tree
