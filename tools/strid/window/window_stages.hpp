// SPDX-License-Identifier: Apache-2.0
//
// How the graph of `strid window` is put together. Each .cpp beside makes one instance.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/connector/row_writer.hpp>

#include "merged_tables.hpp"
#include "table_aggregate.hpp"
#include "table_text.hpp"
#include "window_graph.hpp"

namespace strid::tool {

/// Writes each result at once, so that the reader of a pipe sees each window when it fires.
template <class Result>
class ResultWriter {
  public:
    static constexpr FunctionTraits traits{
        .hears = events<Opened, Flush, Closed>, .has = Has::blocks | Has::files, .stateless = true};

    explicit ResultWriter(const WindowJob& job)
        : writer_(job.output, job.writing), text_(job.plan) {}

    void on(const Opened& opened) { writer_.open(text_.result_header(), opened.context); }
    void operator()(const Result& result) {
        text_.append(writer_.rows(), result);
        writer_.rows() += '\n';
        writer_.row_done();
    }
    void on(Flush) { writer_.flush(); }
    void on(Closed) { writer_.close(); }
    [[nodiscard]] bool blocks() const noexcept { return writer_.may_block(); }
    [[nodiscard]] std::vector<FileUse> files() const { return writer_.files(); }

  private:
    RowWriter writer_;
    TableText text_;
};

/// Writes late rows as they were read, or drops them where there is no file.
template <class Row>
class LateWriter {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, Closed>,
                                           .has = Has::blocks | Has::files};

    explicit LateWriter(const WindowJob& job)
        : file_(job.late), writer_(file_ ? file_->path : std::string{}, job.writing) {}

    void on(const Opened& opened) {
        if (file_) writer_.open({}, opened.context);
    }
    void operator()(const Row& row) {
        if (!file_) return;
        if (!has_header_) write_header();
        writer_.rows().append(row.line) += '\n';
        writer_.row_done();
    }
    void on(Flush) { writer_.flush(); }
    void on(Closed) {
        if (file_) write_header();
        writer_.close();
    }
    [[nodiscard]] bool blocks() const noexcept { return file_ && writer_.may_block(); }
    [[nodiscard]] std::vector<FileUse> files() const {
        return file_ ? writer_.files() : std::vector<FileUse>{};
    }
    auto state() { return std::tie(has_header_); }

  private:
    // Its writer holds no row yet, or the header is written.
    void write_header() {
        std::call_once(file_->header_written, [this] {
            writer_.rows() += file_->header;
            writer_.flush();
        });
        has_header_ = true;
    }

    std::shared_ptr<LateFile> file_;
    RowWriter writer_;
    bool has_header_ = false;
};

/// Windows of a number of rows take them as they come; those of time need a time, and have late
/// rows, which go to a writer of their own where they may be asked for.
template <class Table, class Windows>
void build_windows(Graph& graph, const WindowJob& job, Windows windows) {
    using Row = TableRow<typename Table::Rows>;
    MergedTables<typename Table::Rows> source(job);
    TableAggregate<Table> aggregate(job.plan);
    if constexpr (std::is_same_v<Windows, window::CountWindows>) {
        auto results = graph.source(std::move(source), {.name = "read"})
                           .template key_by<&Row::key>()
                           .window(windows, std::move(aggregate), job.window);
        using Result = typename decltype(results)::record_type;
        std::move(results).sink(ResultWriter<Result>(job), {.name = "write"});
    } else {
        constexpr auto time_of = [](const Row& row) { return row.time; };
        auto keyed = graph.source(std::move(source), {.name = "read"})
                         .event_time(time_of, TableTime{job.progress}, {.name = "time"})
                         .template key_by<&Row::key>();
        if constexpr (Table::keeps_lines) {
            auto [results, late] =
                std::move(keyed).window(windows, std::move(aggregate), late_apart, job.window);
            using Result = typename decltype(results)::record_type;
            std::move(results).sink(ResultWriter<Result>(job), {.name = "write"});
            std::move(late).sink(LateWriter<Row>(job), {.name = "write-late"});
        } else {
            auto results = std::move(keyed).window(windows, std::move(aggregate), job.window);
            using Result = typename decltype(results)::record_type;
            std::move(results).sink(ResultWriter<Result>(job), {.name = "write"});
        }
    }
}

}  // namespace strid::tool
