// SPDX-License-Identifier: Apache-2.0
#include "improved_plan.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace strid::table {

namespace {

template <class Names>
void add_columns(Names& names, const Expression& expression) {
    for (std::string& name : expression.columns()) names.insert(std::move(name));
}

template <class Names>
void add_fields(Names& names, const Schema& schema) {
    for (const Field& field : schema.fields()) names.insert(field.name);
}

/// Of the columns of a schema those with these names, in its order.
template <class Names>
std::vector<std::string> in_order(const Names& names, const Schema& schema) {
    std::vector<std::string> found;
    for (const Field& field : schema.fields()) {
        if (names.contains(field.name)) found.push_back(field.name);
    }
    return found;
}

/// Those that later steps need; one at least, so that there are windows.
template <class Names>
std::vector<Aggregate> needed_of(const std::vector<Aggregate>& aggregates, const Names& names) {
    std::vector<Aggregate> found;
    for (const Aggregate& aggregate : aggregates) {
        if (names.contains(aggregate.name)) found.push_back(aggregate);
    }
    if (found.empty()) found.push_back(aggregates.front());
    return found;
}

}  // namespace

ImprovedPlan::ImprovedPlan(const Plan& plan)
    : path(plan.path_), columns(plan.source_.size()), output(plan.output_), late(plan.late_) {
    std::vector<Names> needed = needed_by(plan);
    read_columns(plan, needed.front());
    add_operators(plan, needed);
}

// From the sink to the source.
std::vector<ImprovedPlan::Names> ImprovedPlan::needed_by(const Plan& plan) {
    const auto& steps = plan.steps_;
    std::vector<Names> needed(steps.size() + 1);
    add_fields(needed.back(), plan.schema_);
    for (std::size_t i = steps.size(); i-- != 0;) {
        Names& before = needed[i];
        Names& behind = needed[i + 1];
        if (const auto* projection = std::get_if<Plan::Projection>(&steps[i])) {
            // Rows are there also where no column is needed.
            if (behind.empty()) behind.insert(projection->columns.front().name);
            for (const Computed& column : projection->columns) {
                if (behind.contains(column.name)) add_columns(before, column.expression);
            }
            continue;
        }
        if (const auto* spec = std::get_if<WindowSpec>(&steps[i])) {
            before.insert(spec->keys.begin(), spec->keys.end());
            if (!spec->time.empty()) before.insert(spec->time);
            for (const Aggregate& aggregate : needed_of(spec->aggregates, behind)) {
                if (!aggregate.column.empty()) before.insert(aggregate.column);
            }
        } else {
            before = behind;
        }
        if (const auto* condition = std::get_if<Plan::Condition>(&steps[i])) {
            add_columns(before, condition->expression);
        } else if (const auto* time = std::get_if<Plan::Time>(&steps[i])) {
            before.insert(time->column);
        } else if (const auto* distinct = std::get_if<Plan::Distinct>(&steps[i])) {
            before.insert(distinct->columns.begin(), distinct->columns.end());
            before.insert(distinct->time);
        }
        if (!plan.late_.empty() && i == plan.late_step_) add_fields(before, plan.late_schema_);
    }
    return needed;
}

void ImprovedPlan::read_columns(const Plan& plan, Names needed) {
    options = plan.options_;
    options.columns.clear();
    std::vector<Field> fields;
    if (needed.empty()) needed.insert(plan.source_[0].name);
    for (std::size_t i = 0; i != plan.source_.size(); ++i) {
        const Field& field = plan.source_[i];
        if (!needed.contains(field.name)) continue;
        fields.push_back(field);
        if (!plan.options_.columns.empty()) {
            options.columns.push_back(plan.options_.columns[i]);
        } else if (options.header == CsvHeader::none) {
            options.columns.emplace_back(static_cast<int>(i + 1));
        }
    }
    parsed = Schema(std::move(fields));
    for (const Plan& part : plan.parts_) {
        std::vector<Computed> kept;
        for (const Field& field : parsed.fields()) kept.push_back({field.name, col(field.name)});
        parts.emplace_back(kept.size() == columns ? part : part.project(kept));
    }
}

bool ImprovedPlan::draws_time() const {
    return std::ranges::any_of(operators, [](const auto& one) { return one->draws_time(); });
}

std::string ImprovedPlan::text() const {
    std::string text;
    if (parts.empty()) {
        text = fmt::format("read {}: {} ({} of {} columns)\n", path, parsed.text(), parsed.size(),
                           columns);
    } else {
        for (const ImprovedPlan& part : parts) text += part.text();
        text += fmt::format("union all of {}: {}\n", parts.size(), parsed.text());
    }
    for (const auto& one : operators) text += one->text() + '\n';
    return text;
}

// Forward, with the schemas that follow.
void ImprovedPlan::add_operators(const Plan& plan, const std::vector<Names>& needed) {
    Schema schema = parsed;
    for (std::size_t i = 0; i != plan.steps_.size(); ++i) {
        const Names& behind = needed[i + 1];
        if (!plan.late_.empty() && i == plan.late_step_) late_schema = schema;
        struct Made {
            std::unique_ptr<TableOperator> operator()(const Plan::Condition& step) const {
                return filter(step.expression, schema, in_order(behind, schema), on_fault);
            }
            std::unique_ptr<TableOperator> operator()(const Plan::Projection& step) const {
                std::vector<Computed> columns;
                for (const Computed& column : step.columns) {
                    if (behind.contains(column.name)) columns.push_back(column);
                }
                return project(columns, schema, on_fault);
            }
            std::unique_ptr<TableOperator> operator()(const Plan::Limit& step) const {
                return limit(step.rows, schema);
            }
            std::unique_ptr<TableOperator> operator()(const Plan::Time& step) const {
                return event_time(step.column, step.disorder, schema, on_fault);
            }
            std::unique_ptr<TableOperator> operator()(WindowSpec step) const {
                step.aggregates = needed_of(step.aggregates, behind);
                return windowed(step, schema, on_fault);
            }
            std::unique_ptr<TableOperator> operator()(const Plan::Distinct& step) const {
                return deduplicate(step.columns, step.time, step.within, schema, on_fault);
            }
            const Names& behind;
            const Schema& schema;
            OnFault on_fault;
        };
        operators.push_back(std::visit(Made{behind, schema, plan.on_fault_}, plan.steps_[i]));
        schema = operators.back()->output();
    }
}

}  // namespace strid::table
