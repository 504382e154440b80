// SPDX-License-Identifier: Apache-2.0
//
// A sink that writes records as comma-separated values (RFC 4180, '\n' at the line's end) to a
// file, a pipe or standard output ("-"). Numbers in the shortest form that reads back the same;
// text quoted where it has to be, times as nanoseconds. The record's fields are those that csv_file
// reads; nested values have their own columns (engine/connector/columns.hpp), so that a
// WindowResult is written as key, start, end, value. Replicas share the file and each row is whole;
// rows of one replica keep their order. One thread at a time each. A plain file gets its name when
// the run has ended well, and is as it was before if it has not, unless it is written live
// (CsvWriterOptions::writing).
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <strid/connector/csv_value.hpp>
#include <strid/connector/row_writer.hpp>
#include <strid/engine/connector/columns.hpp>
#include <strid/engine/connector/csv_row.hpp>
#include <strid/operator/contract.hpp>

namespace strid {

/// How a table is written.
struct CsvWriterOptions {
    char delimiter = ',';               ///< Between fields.
    std::vector<std::string> header{};  ///< names for the first row; empty: none
    Writing writing = Writing::whole;   ///< when a plain file gets its rows
};

/// The sink that `csv_writer` makes. Throws InputOutputError where it cannot write.
template <class T>
class CsvWriter {
  public:
    /// Replicas share the file, row by row: there may be as many as what feeds them has.
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, SnapshotBegins, Closed>,
                                           .has = Has::blocks | Has::files,
                                           .parallel_by_default = true,
                                           .stateless = true};

    /// Opens nothing yet. Throws GraphError for a delimiter that cannot be one.
    CsvWriter(std::string path, CsvWriterOptions options)
        : writer_(std::move(path), options.writing), options_(std::move(options)) {
        check_csv_delimiter(options_.delimiter);
    }

    /// Begins the file. Throws InputOutputError.
    void on(const Opened& opened) {
        std::string header;
        for (const std::string& name : options_.header) {
            if (&name != &options_.header.front()) header += options_.delimiter;
            append_csv_field(header, name, options_.delimiter);
        }
        if (!header.empty()) header += '\n';
        writer_.open(header, opened.context);
    }

    /// Writes the row of the record. Throws InputOutputError.
    void operator()(const T& record) {
        std::string& rows = writer_.rows();
        const std::size_t before = rows.size();
        bool first = true;
        detail::visit_columns(record, [&](const auto& column) {
            if (!std::exchange(first, false)) rows += options_.delimiter;
            detail::append_csv_value(rows, column, options_.delimiter);
        });
        if (rows.size() == before) rows += "\"\"";  // not a blank line, which readers pass over
        rows += '\n';
        writer_.row_done();
    }

    /// Writes all buffered rows, so that readers of a pipe or of a live file see them. Throws
    /// InputOutputError, as on(Closed) does.
    void on(Flush) { writer_.flush(); }
    void on(SnapshotBegins snapshot) { writer_.begin_snapshot(snapshot.number); }
    void on(Closed) { writer_.close(); }
    /// True when a write may wait for a reader (a pipe, a terminal).
    [[nodiscard]] bool blocks() const noexcept { return writer_.may_block(); }
    [[nodiscard]] std::vector<FileUse> files() const { return writer_.files(); }

  private:
    RowWriter writer_;
    CsvWriterOptions options_;
};

/// Writes records to the CSV file `path`.
template <class T>
[[nodiscard]] CsvWriter<T> csv_writer(std::string path, CsvWriterOptions options = {}) {
    return CsvWriter<T>(std::move(path), std::move(options));
}

}  // namespace strid
