// SPDX-License-Identifier: Apache-2.0
//
// How the graph of `strid window` is put together. Each .cpp beside makes one instance.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <strid/connector/row_writer.hpp>

#include "table_aggregate.hpp"
#include "table_source.hpp"
#include "table_text.hpp"
#include "window_graph.hpp"

namespace strid::tool {

/// Writes results (or late rows) as they come, so that whoever reads a pipe sees each window at
/// once. Without a path it drops them.
template <class Record>
class TableWriter {
  public:
    TableWriter(const std::string& path, std::shared_ptr<const TablePlan> plan)
        : writer_(path), text_(std::move(plan)), writes_(!path.empty()) {}

    void open(const Context& /*context*/) {
        if (!writes_) return;
        if constexpr (requires(const Record& record) { record.window; }) {
            writer_.open(text_.result_header());
        } else {
            writer_.open(text_.late_header());
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

/// Windows of a number of rows take them as they come; those of time need a time, and have late
/// rows, which go to a writer of their own.
template <class Table, class Windows>
void build_windows(Graph& graph, const WindowJob& job, Windows windows) {
    using Row = TableRow<Table>;
    TableSource<Table> source(job);
    TableAggregate<Table> aggregate(job.plan);
    if constexpr (std::is_same_v<Windows, window::CountWindows>) {
        auto results = graph.source(std::move(source), {.name = "read"})
                           .template key_by<&Row::key>()
                           .window(windows, std::move(aggregate), job.window);
        using Result = typename decltype(results)::record_type;
        std::move(results).sink(TableWriter<Result>(job.output, job.plan), {.name = "write"});
    } else {
        constexpr auto time_of = [](const Row& row) { return row.time; };
        auto [results, late] =
            graph.source(std::move(source), {.name = "read"})
                .event_time(time_of, BoundedDisorder{job.disorder}, {.name = "time"})
                .template key_by<&Row::key>()
                .window_with_late(windows, time_of, std::move(aggregate), job.window);
        using Result = typename decltype(results)::record_type;
        std::move(results).sink(TableWriter<Result>(job.output, job.plan), {.name = "write"});
        std::move(late).sink(TableWriter<Row>(job.late, job.plan), {.name = "write-late"});
    }
}

}  // namespace strid::tool
