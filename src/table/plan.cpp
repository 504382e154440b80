// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/table/plan.hpp>

#include "improved_plan.hpp"

namespace strid::table {

namespace {

using Names = std::set<std::string, std::less<>>;

void add_columns(Names& names, const Expression& expression) {
    for (std::string& name : expression.columns()) names.insert(std::move(name));
}

/// Of the columns of a schema those with these names, in its order.
std::vector<std::string> in_order(const Names& names, const Schema& schema) {
    std::vector<std::string> found;
    for (const Field& field : schema.fields()) {
        if (names.contains(field.name)) found.push_back(field.name);
    }
    return found;
}

}  // namespace

Plan Plan::read_csv(std::string path, const Schema& schema, CsvOptions options) {
    if (schema.size() == 0) throw GraphError("a plan reads at least one column");
    Plan plan;
    plan.path_ = std::move(path);
    plan.source_ = plan.schema_ = schema;
    plan.options_ = std::move(options);
    if (!plan.options_.columns.empty() && plan.options_.columns.size() != schema.size()) {
        throw GraphError(fmt::format("{} columns of the options for {} of the schema",
                                     plan.options_.columns.size(), schema.size()));
    }
    return plan;
}

Plan Plan::filter(const Expression& condition) const {
    Plan plan = *this;
    plan.schema_ = table::filter(condition, schema_)->output();
    plan.steps_.emplace_back(Condition{condition});
    return plan;
}

Plan Plan::project(const std::vector<Computed>& columns) const {
    if (columns.empty()) throw GraphError("project: there is no column");
    Plan plan = *this;
    plan.schema_ = table::project(columns, schema_)->output();
    plan.steps_.emplace_back(Projection{columns});
    return plan;
}

Plan Plan::limit(std::uint64_t rows) const {
    Plan plan = *this;
    plan.steps_.emplace_back(Limit{rows});
    return plan;
}

Plan Plan::on_fault(OnFault on_fault) const {
    Plan plan = *this;
    plan.on_fault_ = on_fault;
    return plan;
}

Plan Plan::write_csv(std::string path) const {
    Plan plan = *this;
    plan.output_ = std::move(path);
    return plan;
}

std::string Plan::explain() const {
    const ImprovedPlan improved(*this);
    std::string text = fmt::format("read {}: {} ({} of {} columns)\n", path_,
                                   improved.parsed.text(), improved.parsed.size(), source_.size());
    for (const auto& one : improved.operators) text += one->text() + '\n';
    if (!output_.empty()) text += fmt::format("write {}: {}\n", output_, schema_.text());
    return text;
}

// From the sink to the source: which columns are needed behind each step. Then forward, with the
// schemas that follow.
ImprovedPlan::ImprovedPlan(const Plan& plan) : path(plan.path_), output(plan.output_) {
    const auto& steps = plan.steps_;
    std::vector<Names> needed(steps.size() + 1);
    for (const Field& field : plan.schema_.fields()) needed.back().insert(field.name);
    for (std::size_t i = steps.size(); i-- != 0;) {
        Names& before = needed[i];
        if (const auto* projection = std::get_if<Plan::Projection>(&steps[i])) {
            // Rows are there also where no column is needed.
            if (needed[i + 1].empty()) needed[i + 1].insert(projection->columns.front().name);
            for (const Computed& column : projection->columns) {
                if (needed[i + 1].contains(column.name)) add_columns(before, column.expression);
            }
        } else {
            before = needed[i + 1];
            const auto* condition = std::get_if<Plan::Condition>(&steps[i]);
            if (condition != nullptr) add_columns(before, condition->expression);
        }
    }
    options = plan.options_;
    options.columns.clear();
    std::vector<Field> fields;
    if (needed.front().empty()) needed.front().insert(plan.source_[0].name);
    for (std::size_t i = 0; i != plan.source_.size(); ++i) {
        const Field& field = plan.source_[i];
        if (!needed.front().contains(field.name)) continue;
        fields.push_back(field);
        if (!plan.options_.columns.empty()) {
            options.columns.push_back(plan.options_.columns[i]);
        } else if (options.header == CsvHeader::none) {
            options.columns.emplace_back(static_cast<int>(i + 1));
        }
    }
    parsed = Schema(std::move(fields));
    Schema schema = parsed;
    for (std::size_t i = 0; i != steps.size(); ++i) {
        if (const auto* condition = std::get_if<Plan::Condition>(&steps[i])) {
            operators.push_back(filter(condition->expression, schema,
                                       in_order(needed[i + 1], schema), plan.on_fault_));
        } else if (const auto* projection = std::get_if<Plan::Projection>(&steps[i])) {
            std::vector<Computed> columns;
            for (const Computed& column : projection->columns) {
                if (needed[i + 1].contains(column.name)) columns.push_back(column);
            }
            operators.push_back(project(columns, schema, plan.on_fault_));
        } else {
            operators.push_back(limit(std::get<Plan::Limit>(steps[i]).rows, schema));
        }
        schema = operators.back()->output();
    }
}

}  // namespace strid::table
