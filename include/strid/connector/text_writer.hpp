// SPDX-License-Identifier: Apache-2.0
//
// A sink that writes each record as one line of text to a file, a pipe or standard output ("-").
// The first of these that fits the record's type is what it writes:
//
//     what converts to std::string_view     as it is; a newline in it is not escaped
//     a record with a text member `text`    that member alone, as of a Line; other members are not
//                                           written
//     a type that fmt can format            as `{}` does, numbers among them
//     any other record                      its columns (engine/connector/columns.hpp), separated
//     by tabs;
//                                           each as csv_writer writes it, quoted where it has to be
//
// Replicas share the file: each line is whole, lines of one replica keep their order, and those of
// different replicas come in any order. A file gets its name when the run has ended well, and is as
// it was before if not; Writing::live writes it from the start (base/destination.hpp). Folders are
// not made. Threads: one at a time for each replica.
#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <strid/connector/csv_value.hpp>
#include <strid/connector/row_writer.hpp>
#include <strid/engine/connector/columns.hpp>
#include <strid/operator/contract.hpp>

namespace strid {

/// The sink that `text_writer` makes. Throws InputOutputError where it cannot write, which a run
/// throws as an OperatorError with this cause.
class TextWriter {
  public:
    /// Replicas share the file, line by line: as many as what feeds them has.
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, SnapshotBegins, Closed>,
                                           .has = Has::blocks | Has::files,
                                           .parallel_by_default = true,
                                           .stateless = true};

    /// Opens nothing yet.
    explicit TextWriter(std::string path, Writing writing = Writing::whole)
        : writer_(std::move(path), writing) {}

    void on(const Opened& opened) { writer_.open({}, opened.context); }

    /// Writes the line of the record. Throws InputOutputError.
    template <class T>
    void operator()(const T& record) {
        std::string& rows = writer_.rows();
        if constexpr (requires { std::string_view(record); }) {
            rows += std::string_view(record);
        } else if constexpr (requires { std::string_view(record.text); }) {
            rows += std::string_view(record.text);
        } else if constexpr (fmt::is_formattable<T>::value || !detail::has_columns<T>) {
            fmt::format_to(std::back_inserter(rows), "{}", record);
        } else {
            bool first = true;
            detail::visit_columns(record, [&](const auto& column) {
                if (!std::exchange(first, false)) rows += '\t';
                detail::append_csv_value(rows, column, '\t');
            });
        }
        rows += '\n';
        writer_.row_done();
    }

    void on(Flush) { writer_.flush(); }
    void on(SnapshotBegins snapshot) { writer_.begin_snapshot(snapshot.number); }
    void on(Closed) { writer_.close(); }
    [[nodiscard]] bool blocks() const noexcept { return writer_.may_block(); }
    [[nodiscard]] std::vector<FileUse> files() const { return writer_.files(); }

  private:
    RowWriter writer_;
};

/// Writes records as lines to `path`.
[[nodiscard]] inline TextWriter text_writer(std::string path, Writing writing = Writing::whole) {
    return TextWriter(std::move(path), writing);
}

}  // namespace strid
