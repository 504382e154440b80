// SPDX-License-Identifier: Apache-2.0
//
// One file of Parquet or Arrow IPC, read a group of rows after the other. Used by one thread; what
// several know together of a file is constant (TableFileInfo).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <parquet/arrow/reader.h>
#include <parquet/metadata.h>

#include "place.hpp"

namespace strid::parquet {

/// A column of the rows: of the file, or of its path.
struct InputColumn {
    int field = -1;                         ///< Of the file; negative: its path has the value.
    std::optional<std::string> value = {};  ///< Of the path; none: null.
};

struct TableFileInfo {
    InputFile file;
    std::shared_ptr<arrow::Schema> schema;
    std::shared_ptr<::parquet::FileMetaData> metadata;  ///< Null: it is of Arrow IPC.
    int groups = 0;
    std::vector<InputColumn> columns = {};  ///< That are read, in the order of the rows.
};

class TableFile {
  public:
    /// Reads what the file says of itself. Throws InputOutputError, as all others do.
    [[nodiscard]] static TableFileInfo look_at(const InputFile& file);

    explicit TableFile(std::shared_ptr<const TableFileInfo> info);
    TableFile(const TableFile&) = delete;
    TableFile& operator=(const TableFile&) = delete;
    ~TableFile();

    /// Appends the rows of a group to `text` as CSV; calls `is_enough` after some rows, which may
    /// take the text out, and ends where it returns false.
    void append_group(int group, std::string& text, const std::function<bool()>& is_enough);
    [[nodiscard]] const TableFileInfo& info() const noexcept { return *info_; }

  private:
    bool append_batch(const arrow::RecordBatch& batch, std::string& text,
                      const std::function<bool()>& is_enough) const;

    const std::shared_ptr<const TableFileInfo> info_;
    std::vector<int> fields_;  // of the file that are read, in its order
    std::vector<int> leaves_;  // of Parquet, the same
    std::vector<int> places_;  // of each column of the rows among them; negative: of the path
    std::unique_ptr<::parquet::arrow::FileReader> parquet_;  // null: it is of Arrow IPC
    std::shared_ptr<arrow::ipc::RecordBatchFileReader> arrow_;
};

}  // namespace strid::parquet
