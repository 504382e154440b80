// SPDX-License-Identifier: Apache-2.0
//
// What the graphs of `strid window` share: their source, and their writers.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <strid/connector/csv_file.hpp>
#include <strid/connector/row_writer.hpp>

#include "window_graph.hpp"

namespace strid::tool {

using TableSource = CsvFile<TableRow, TableLayout>;

inline TableSource table_source(const WindowJob& job) {
    return TableSource(job.input, job.csv, TableLayout(job.plan));
}

/// Writes results (or late rows) as they come, so that whoever reads a pipe sees each window at
/// once. Without a path it drops them.
template <class Record>
class TableWriter {
  public:
    TableWriter(const std::string& path, std::shared_ptr<const TablePlan> plan)
        : writer_(path), text_(std::move(plan)), writes_(!path.empty()) {}

    void open(const Context& /*context*/) {
        if (!writes_) return;
        if constexpr (std::is_same_v<Record, TableRow>) {
            writer_.open(text_.late_header());
        } else {
            writer_.open(text_.result_header());
        }
    }
    void operator()(const Record& record) {
        if (!writes_) return;
        text_.append(writer_.rows(), record);
        writer_.rows() += '\n';
        writer_.row_done();
    }
    void flush() { writer_.flush(); }
    void close() { writer_.close(); }
    [[nodiscard]] bool blocks() const noexcept { return writes_ && writer_.may_block(); }

  private:
    RowWriter writer_;
    TableText text_;
    bool writes_;
};

/// Windows that need time: results to one writer, late rows to another.
template <class Windows>
void build_timed(Graph& graph, const WindowJob& job, Windows windows) {
    auto [results, late] =
        graph.source(table_source(job), {.name = "read"})
            .event_time(&TableRow::time, BoundedDisorder{job.disorder}, {.name = "time"})
            .template key_by<&TableRow::key>()
            .window_with_late(windows, &TableRow::time, TableAggregate(job.plan), job.window);
    using Result = typename decltype(results)::record_type;
    std::move(results).sink(TableWriter<Result>(job.output, job.plan), {.name = "write"});
    std::move(late).sink(TableWriter<TableRow>(job.late, job.plan), {.name = "write-late"});
}

}  // namespace strid::tool
