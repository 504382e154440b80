// SPDX-License-Identifier: Apache-2.0
//
// One replica's side of an OutputFile: whole rows are gathered here and appended in one piece.
// Copies write to the same file with a buffer of their own. Used by one thread at a time.
// Law: a row is appended whole and once; what flush() and close() have not handed on is lost with
// the writer (a run that failed).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <strid/connector/output_file.hpp>

namespace strid {

class RowWriter {
  public:
    explicit RowWriter(std::string path) : file_(std::make_shared<OutputFile>(std::move(path))) {}
    RowWriter(const RowWriter& other) : file_(other.file_) {}
    RowWriter(RowWriter&& other) noexcept
        : file_(other.file_),
          rows_(std::move(other.rows_)),
          opened_(std::exchange(other.opened_, false)) {}
    RowWriter& operator=(const RowWriter&) = delete;
    ~RowWriter();

    void open(std::string_view header = {});
    /// The end of the buffer, to append one row to; row_done() says that it is whole.
    [[nodiscard]] std::string& rows() noexcept { return rows_; }
    void row_done() {
        if (rows_.size() >= OutputFile::buffer_bytes) flush();
    }
    /// Hands every row to the file, so that whoever reads it live sees them.
    void flush();
    void close();
    [[nodiscard]] bool may_block() const noexcept { return file_->may_block(); }

  private:
    std::shared_ptr<OutputFile> file_;
    std::string rows_;
    bool opened_ = false;
};

}  // namespace strid
