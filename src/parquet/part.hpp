// SPDX-License-Identifier: Apache-2.0
//
// One file that rows are written to. Owns its descriptor; the file is not removed here. Threads:
// one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/array/builder_base.h>
#include <arrow/io/file.h>
#include <arrow/type.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include "column_type.hpp"

namespace strid::parquet {

/// The properties that all parts of an output have.
struct PartForm {
    std::string name;  ///< For messages.
    std::shared_ptr<arrow::Schema> schema;
    std::vector<std::size_t> fields;  ///< Of a row, that are columns of the file, in their order.
    std::shared_ptr<::parquet::WriterProperties> properties;
    std::uint64_t group_bytes = 0;  ///< Of text, at most, about, in a group of rows.
};

class Part {
  public:
    /// Writes to a new file of this path. Throws InputOutputError, and ConnectionLost where the
    /// disk is full, as all others do.
    Part(std::shared_ptr<const PartForm> form, std::string path);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    /// `fields`: all of a row. Where one of them does not suit its column none of them is in the
    /// file, which can be gone on with.
    void append(const std::vector<FieldText>& fields);
    /// Writes the rows that are held as a group.
    void end_group();
    /// The file is whole, and on the disk.
    void finish();

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
    /// Of the file so far.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    /// Of text that is held.
    [[nodiscard]] std::uint64_t held_bytes() const noexcept { return held_bytes_; }

  private:
    void open_stream(int made);
    void check_write(const arrow::Status& status) const;
    [[noreturn]] void fail_write(const std::string& why, int error) const;

    const std::shared_ptr<const PartForm> form_;
    const std::string path_;
    int descriptor_ = -1;  // the same file as that of stream_, to wait for the disk
    std::shared_ptr<arrow::io::FileOutputStream> stream_;
    std::unique_ptr<::parquet::arrow::FileWriter> writer_;
    std::vector<std::unique_ptr<arrow::ArrayBuilder>> builders_;
    std::vector<AppendText> appends_;
    std::uint64_t rows_ = 0;
    std::uint64_t held_rows_ = 0;
    std::uint64_t held_bytes_ = 0;
    std::uint64_t bytes_ = 0;
    bool is_torn_ = false;    // some builders have a row that others have not
    bool is_broken_ = false;  // a write has failed
};

}  // namespace strid::parquet
