// SPDX-License-Identifier: Apache-2.0
//
// The buffer of one replica before a file or a table (RowOutput): gathers whole rows and appends
// them in one piece. Copies write to the same output with a buffer of their own. Used by one thread
// at a time.
//
// Invariant: a row is appended whole and once. Rows that neither flush() nor close() has appended
// are lost if the writer is destroyed, as in a run that failed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <strid/connector/row_output.hpp>
#include <strid/operator/context.hpp>

namespace strid {

/// The writer of a sink of rows. Each replica has a copy; all append to one file. Throws
/// InputOutputError where it cannot write. Threads: one at a time for each copy.
class RowWriter {
  public:
    /// Opens nothing yet. `path` may be the address of a table (connector/transport.hpp). Rows are
    /// given as CSV in any case. Throws GraphError as make_row_output().
    explicit RowWriter(std::string path, Writing writing = Writing::whole,
                       RowFormat format = RowFormat::csv);
    /// Writes to the same file, with an empty buffer.
    RowWriter(const RowWriter& other);
    /// With the rows of the buffer.
    RowWriter(RowWriter&& other) noexcept;
    RowWriter& operator=(const RowWriter&) = delete;
    ~RowWriter();

    /// With the context that the sink was opened with: a file that is written whole then waits for
    /// the end of the run. Without, it gets its name by close().
    void open(std::string_view header = {}, const Context& context = {});
    /// The header, where it is not known when the writer is opened: before its first row. The first
    /// of all writers of the file sets it.
    void begin_with(std::string_view header) { output_->begin_with(header); }
    /// The end of the buffer, to append one row to; call row_done() when it is whole.
    [[nodiscard]] std::string& rows() noexcept { return rows_; }
    /// The row at the end of rows() is whole. Appends to the file where the buffer is full.
    void row_done() {
        if (rows_.size() >= RowOutput::buffer_bytes) flush();
    }
    /// Appends all buffered rows to the file, so that a program that reads it live sees them.
    void flush();
    /// For SnapshotBegins: the rows so far belong to the snapshot of this number, and no later one
    /// does.
    void begin_snapshot(std::uint64_t number);
    /// Appends what is buffered. The file is complete when the run ends well. Throws
    /// InputOutputError.
    void close();
    /// Whether a reader of the file (a pipe) may keep a row waiting.
    [[nodiscard]] bool may_block() const noexcept { return output_->may_block(); }
    /// For `files()` of a sink that writes here.
    [[nodiscard]] std::vector<FileUse> files() const;

  private:
    std::shared_ptr<RowOutput> output_;
    std::string rows_;
    bool opened_ = false;
    bool begun_ = false;          // the header was handed on
    std::uint64_t snapshot_ = 0;  // the last one
};

}  // namespace strid
