// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/table/plan.hpp>

#include "improved_plan.hpp"

namespace strid::table {

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

Plan Plan::union_all(const std::vector<Plan>& plans) {
    if (plans.empty()) throw GraphError("union_all: there is no plan");
    Plan plan;
    plan.source_ = plan.schema_ = plans.front().schema_;
    plan.time_ = plans.front().time_;
    for (const Plan& part : plans) {
        if (part.schema_ != plan.schema_) {
            throw GraphError(fmt::format("union_all: the columns are {}, and in another plan {}",
                                         plan.schema_.text(), part.schema_.text()));
        }
        if (!part.output_.empty() || !part.late_.empty()) {
            throw GraphError("union_all: a plan of it writes to " +
                             (part.output_.empty() ? part.late_ : part.output_));
        }
        if (part.time_ != plan.time_) plan.time_.clear();
    }
    plan.parts_ = plans;
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
    // The event time may get another name; without its column the rows have none.
    plan.time_.clear();
    for (const Computed& column : columns) {
        if (time_.empty() || column.expression.text() != col(time_).text()) continue;
        plan.time_ = column.name;
        break;
    }
    plan.steps_.emplace_back(Projection{columns});
    return plan;
}

Plan Plan::limit(std::uint64_t rows) const {
    Plan plan = *this;
    plan.steps_.emplace_back(Limit{rows});
    return plan;
}

Plan Plan::event_time(const std::string& column, Duration disorder) const {
    Plan plan = *this;
    (void)table::event_time(column, disorder, schema_);
    plan.time_ = column;
    plan.steps_.emplace_back(Time{column, disorder});
    return plan;
}

Plan Plan::window(WindowSpec spec) const {
    Plan plan = *this;
    if (!std::holds_alternative<window::CountWindows>(spec.windows)) {
        if (time_.empty()) throw GraphError("window: there is no event time");
        spec.time = time_;
    }
    plan.schema_ = windowed(spec, schema_)->output();
    plan.time_.clear();
    if (spec.time.empty()) {
        plan.steps_.emplace_back(std::move(spec));
    } else {
        plan.add_step_with_late_rows(std::move(spec), schema_);
    }
    return plan;
}

Plan Plan::deduplicate(const std::vector<std::string>& columns, Duration within) const {
    Plan plan = *this;
    if (time_.empty()) throw GraphError("deduplicate: there is no event time");
    (void)table::deduplicate(columns, time_, within, schema_);
    plan.add_step_with_late_rows(Distinct{columns, time_, within}, schema_);
    return plan;
}

void Plan::add_step_with_late_rows(Step step, const Schema& arrived) {
    if (!late_.empty()) throw GraphError("late_csv: the late rows are those of one step alone");
    ++late_steps_;
    late_step_ = steps_.size();
    late_schema_ = arrived;
    steps_.push_back(std::move(step));
}

Plan Plan::late_csv(std::string path) const {
    Plan plan = *this;
    if (late_steps_ != 1) {
        throw GraphError("late_csv: the late rows are those of one window or deduplicate");
    }
    plan.late_ = std::move(path);
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
    std::string text = improved.text();
    if (!output_.empty()) text += fmt::format("write {}: {}\n", output_, schema_.text());
    if (!late_.empty()) {
        text += fmt::format("late rows {}: {}\n", late_, improved.late_schema.text());
    }
    return text;
}

}  // namespace strid::table
