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

    /// A line for the source, or those of the parts, and one for each operator.
    [[nodiscard]] std::string text() const;
    /// Whether one of the operators does.
    [[nodiscard]] bool draws_time() const;

    std::vector<ImprovedPlan> parts;  // of a union; none: a file
    std::string path;
    std::size_t columns;  // of the file
    Schema parsed;        // columns of the source that are needed
    CsvOptions options;   // with the places of these columns, where they have no names
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
