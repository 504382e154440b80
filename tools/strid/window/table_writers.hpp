// SPDX-License-Identifier: Apache-2.0
//
// The ends of the graph of `strid window`: what becomes of windows, of late rows and of rows from
// the future. Threads: each object is used by one, the task of its node.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <strid/connector/row_writer.hpp>
#include <strid/operator/ahead_of_clock.hpp>
#include <strid/window/update.hpp>

#include "table_row.hpp"
#include "table_text.hpp"
#include "window_graph.hpp"

namespace strid::tool {

/// Writes each result at once, so that the reader of a pipe sees each window when it fires; of
/// marked ones what each says of its window where that is asked for. Without that column nothing
/// would distinguish a removed window from one that stands: it is not written.
template <class Result>
class ResultWriter {
    static constexpr bool is_marked = requires(const Result& result) { result.revision; };

  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, SnapshotBegins, Closed>,
                                           .has = Has::blocks | Has::files,
                                           .stateless = true};

    explicit ResultWriter(const WindowJob& job)
        : writer_(job.output, job.writing, job.output_format),
          text_(job.plan),
          writes_revision_(job.rows.corrections) {}

    void on(const Opened& opened) {
        std::string header = text_.result_header();
        if (writes_revision_) header.insert(header.size() - 1, ",correction");
        writer_.open(header, opened.context);
    }
    void operator()(const Result& result) {
        if constexpr (is_marked) {
            if (!writes_revision_ && result.revision == Revision::retracted) return;
        }
        std::string& rows = writer_.rows();
        text_.append(rows, result);
        if constexpr (is_marked) {
            if (writes_revision_) (rows += ',') += to_string(result.revision);
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
    TableText text_;
    bool writes_revision_;
};

/// Writes late rows as they were read, or drops them where there is no file.
class LateWriter {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, SnapshotBegins, Closed>,
                                           .has = Has::blocks | Has::files,
                                           .stateless = true};

    explicit LateWriter(const WindowJob& job);

    void on(const Opened& opened);
    void operator()(const TableRow& row);
    void on(Flush) { writer_.flush(); }
    void on(SnapshotBegins snapshot) { writer_.begin_snapshot(snapshot.number); }
    void on(Closed);
    [[nodiscard]] bool blocks() const noexcept { return file_ && writer_.may_block(); }
    [[nodiscard]] std::vector<FileUse> files() const;

  private:
    void begin();

    std::shared_ptr<LateFile> file_;
    std::size_t line_;  // of the values of a row
    RowWriter writer_;
    bool has_begun_ = false;  // the file has the header
};

/// Lets rows pass that are not from the future; the others are written with those that are late.
class SetAside {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, SnapshotBegins, Closed>,
                                           .stateless = true};

    SetAside(const WindowJob& job, LateWriter writer);

    void on(const Opened& opened) { writer_.on(opened); }
    bool operator()(const TableRow& row);
    void on(Flush flush) { writer_.on(flush); }
    void on(SnapshotBegins snapshot) { writer_.on(snapshot); }
    void on(Closed closed) { writer_.on(closed); }

  private:
    ClockLimit limit_;
    bool is_asked_for_;
    std::shared_ptr<std::atomic<std::uint64_t>> count_;
    LateWriter writer_;
};

}  // namespace strid::tool
