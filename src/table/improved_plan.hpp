// SPDX-License-Identifier: Apache-2.0
//
// A plan as it is run: the columns that are parsed, and the operators behind each other.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <strid/table/plan.hpp>
#include <strid/table/table_operator.hpp>

namespace strid::table {

struct ImprovedPlan {
    explicit ImprovedPlan(const Plan& plan);

    std::string path;
    Schema parsed;       // columns of the source
    CsvOptions options;  // with the places of these columns, where they have no names
    std::vector<std::unique_ptr<TableOperator>> operators;
    std::string output;
    std::string late;    // where late rows go; empty: nowhere
    Schema late_schema;  // of those rows

  private:
    /// The columns that each step needs, and behind the last those that the plan gives.
    using Names = std::set<std::string, std::less<>>;
    [[nodiscard]] static std::vector<Names> needed_by(const Plan& plan);
    void read_columns(const Plan& plan, Names needed);
    void add_operators(const Plan& plan, const std::vector<Names>& needed);
};

/// Operators as one: each hands its chunks to the next.
[[nodiscard]] std::unique_ptr<TableOperator> pipeline(
    std::vector<std::unique_ptr<TableOperator>> operators, const Schema& schema);

}  // namespace strid::table
