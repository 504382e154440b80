// SPDX-License-Identifier: Apache-2.0
//
// A computation over a table, as a value: where its rows come from, the steps, and where they go.
//
//     const Plan plan = Plan::read_csv("trades.csv", schema)
//                           .filter(parse_expression("price > 100 and symbol = 'AB'"))
//                           .project({{"turnover", col("price") * col("volume")}})
//                           .write_csv("out.csv");
//     run(plan);
//
// Each step is checked when it is added: names and types. Before the run the plan is improved: a
// column is parsed only if a later step needs it, and is dropped as soon as no later step does.
// A program that includes this header compiles no template of the engine.
//
// Threads: any; a plan is a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <strid/connector/csv_options.hpp>
#include <strid/stream/options.hpp>
#include <strid/stream/report.hpp>
#include <strid/table/evaluator.hpp>
#include <strid/table/expression.hpp>
#include <strid/table/schema.hpp>
#include <strid/table/table_operator.hpp>

namespace strid::table {

/// Rows from a source through steps to a sink. Its functions return another plan.
class Plan {
  public:
    /// The rows of a CSV file with these columns, as csv_chunks() reads them. Throws GraphError for
    /// no columns.
    [[nodiscard]] static Plan read_csv(std::string path, const Schema& schema,
                                       CsvOptions options = {.header = CsvHeader::skip});

    /// The rows for which the condition is true. Throws ExpressionError for a condition that is no
    /// boolean of the columns so far.
    [[nodiscard]] Plan filter(const Expression& condition) const;
    /// These columns. Throws ExpressionError, and GraphError for a name that is there twice.
    [[nodiscard]] Plan project(const std::vector<Computed>& columns) const;
    /// The first rows, so many.
    [[nodiscard]] Plan limit(std::uint64_t rows) const;
    /// The effect of faults in the expressions that were added and are added: OnFault::stop unless
    /// this is called.
    [[nodiscard]] Plan on_fault(OnFault on_fault) const;
    /// Rows go to a CSV file with a header, "-" for standard output.
    [[nodiscard]] Plan write_csv(std::string path) const;

    /// The columns behind the last step.
    [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
    /// The improved plan, a line for each step.
    [[nodiscard]] std::string explain() const;

  private:
    friend struct ImprovedPlan;
    struct Condition {
        Expression expression;
    };
    struct Projection {
        std::vector<Computed> columns;
    };
    struct Limit {
        std::uint64_t rows;
    };

    std::string path_;
    Schema source_;
    CsvOptions options_;
    std::vector<std::variant<Condition, Projection, Limit>> steps_;
    OnFault on_fault_ = OnFault::stop;
    Schema schema_;
    std::string output_;  // empty: none
};

/// Runs a plan that writes somewhere, to its end. Throws GraphError if it writes nowhere, and the
/// errors of a run: InputOutputError, OperatorError.
RunReport run(const Plan& plan, const RunOptions& options = {});
/// The same for a plan that writes nowhere: `take` gets its chunks, one at a time, in order, by a
/// thread of the run. Chunks that it keeps may hold a large piece of the input's text for a few
/// rows: `chunk.copied(memory)` has those rows alone. Throws GraphError if the plan writes
/// somewhere.
RunReport run(const Plan& plan, std::function<void(const Chunk&)> take,
              const RunOptions& options = {});

}  // namespace strid::table
