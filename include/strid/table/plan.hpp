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
// Windows are steps behind event_time(), which says what time the rows have:
//
//     plan.event_time("at", 5s)
//         .window({.keys = {"symbol"},
//                  .windows = window::TimeWindows::tumbling(1min),
//                  .aggregates = parse_aggregates("count, avg(price) as price")})
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
#include <strid/table/window.hpp>

namespace strid::table {

/// Rows from a source through steps to a sink. Its functions return another plan.
class Plan {
  public:
    /// The rows of a CSV file with these columns, as csv_chunks() reads them. Throws GraphError for
    /// no columns.
    [[nodiscard]] static Plan read_csv(std::string path, const Schema& schema,
                                       CsvOptions options = {.header = CsvHeader::skip});

    /// The rows of all of these plans, in no particular order between plans. They have an event
    /// time if they have it in all plans, in one column: the watermark is the earliest of theirs.
    /// Throws GraphError for no plan, for other columns than those of the first, and for a plan
    /// that writes somewhere.
    [[nodiscard]] static Plan union_all(const std::vector<Plan>& plans);

    /// The rows for which the condition is true. Throws ExpressionError for a condition that is no
    /// boolean of the columns so far.
    [[nodiscard]] Plan filter(const Expression& condition) const;
    /// These columns. Throws ExpressionError, and GraphError for a name that is there twice.
    [[nodiscard]] Plan project(const std::vector<Computed>& columns) const;
    /// The first rows, so many.
    [[nodiscard]] Plan limit(std::uint64_t rows) const;
    /// Gives the rows their time, by a column that later steps keep: windows and deduplicate() go
    /// by it, and a row is late that lies behind the latest time so far by more than the disorder.
    /// With Duration::max() none is late, and windows come at the end of the input. Throws
    /// GraphError as table::event_time().
    [[nodiscard]] Plan event_time(const std::string& column, Duration disorder = {}) const;
    /// Rows by windows: keys, `window_start`, `window_end`, aggregates. Windows of time take the
    /// event time that the rows have, which they have no more behind it. Throws GraphError as
    /// windowed(), and where the rows have no event time.
    [[nodiscard]] Plan window(WindowSpec spec) const;
    /// Rows that do not repeat the values in these columns within a time of the row that passed.
    /// Throws GraphError as table::deduplicate(), and where the rows have no event time.
    [[nodiscard]] Plan deduplicate(const std::vector<std::string>& columns, Duration within) const;
    /// The late rows of the window or of deduplicate() go to a CSV file of their own. Throws
    /// GraphError unless there is one such step before, which is the only one.
    [[nodiscard]] Plan late_csv(std::string path) const;
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
    struct Time {
        std::string column;
        Duration disorder;
    };
    struct Distinct {
        std::vector<std::string> columns;
        std::string time;
        Duration within;
    };
    using Step = std::variant<Condition, Projection, Limit, Time, WindowSpec, Distinct>;

    /// Adds one that has late rows, of the columns so far. Throws GraphError where the late rows of
    /// an earlier one go somewhere.
    void add_step_with_late_rows(Step step, const Schema& arrived);

    std::vector<Plan> parts_;  // of a union; none: a file
    std::string path_;
    Schema source_;
    CsvOptions options_;
    std::vector<Step> steps_;
    OnFault on_fault_ = OnFault::stop;
    Schema schema_;
    std::string time_;            // the column of the event time; empty: none
    std::string output_;          // empty: none
    std::string late_;            // the same
    std::size_t late_steps_ = 0;  // that have late rows
    std::size_t late_step_ = 0;   // the last of them
    Schema late_schema_;          // of its late rows
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
