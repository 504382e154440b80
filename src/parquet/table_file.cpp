// SPDX-License-Identifier: Apache-2.0
#include "table_file.hpp"

#include <algorithm>
#include <utility>

#include <arrow/memory_pool.h>
#include <fmt/format.h>
#include <parquet/arrow/schema.h>
#include <parquet/properties.h>

#include <strid/base/error.hpp>
#include <strid/engine/connector/csv_row.hpp>

#include "cells.hpp"

namespace strid::parquet {

namespace {

/// Rows that are decoded at once.
constexpr std::int64_t batch_rows = 16'384;
/// A column is read in pieces of this size, so that a long group takes no more memory.
constexpr std::int64_t buffer_bytes = std::int64_t{1} << 20;
/// So many rows are appended between two looks at the text.
constexpr std::int64_t rows_at_once = 1'024;

std::shared_ptr<arrow::io::RandomAccessFile> opened(const std::string& path) {
    return checked(path, arrow::io::ReadableFile::Open(path));
}

std::unique_ptr<::parquet::arrow::FileReader> reader_of(
    const std::string& path, const std::shared_ptr<::parquet::FileMetaData>& metadata) {
    ::parquet::ReaderProperties properties = ::parquet::default_reader_properties();
    properties.enable_buffered_stream();
    properties.set_buffer_size(buffer_bytes);
    ::parquet::ArrowReaderProperties of_arrow(/*use_threads=*/false);
    of_arrow.set_batch_size(batch_rows);
    of_arrow.set_pre_buffer(false);
    ::parquet::arrow::FileReaderBuilder builder;
    check(path, builder.Open(opened(path), properties, metadata));
    std::unique_ptr<::parquet::arrow::FileReader> reader;
    check(path,
          builder.memory_pool(arrow::default_memory_pool())->properties(of_arrow)->Build(&reader));
    return reader;
}

std::shared_ptr<arrow::ipc::RecordBatchFileReader> arrow_reader_of(
    const std::string& path, const std::vector<int>& fields = {}) {
    arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
    options.use_threads = false;
    options.included_fields = fields;
    return checked(path, arrow::ipc::RecordBatchFileReader::Open(opened(path), options));
}

}  // namespace

TableFileInfo TableFile::look_at(const InputFile& file) {
    TableFileInfo info{.file = file, .schema = nullptr, .metadata = nullptr};
    if (is_arrow_file(file.path)) {
        const auto reader = arrow_reader_of(file.path);
        info.schema = reader->schema();
        info.groups = reader->num_record_batches();
        return info;
    }
    const auto reader = reader_of(file.path, nullptr);
    info.metadata = reader->parquet_reader()->metadata();
    info.groups = info.metadata->num_row_groups();
    check(file.path, reader->GetSchema(&info.schema));
    return info;
}

TableFile::TableFile(std::shared_ptr<const TableFileInfo> info) : info_(std::move(info)) {
    for (const InputColumn& column : info_->columns) {
        if (column.field >= 0) fields_.push_back(column.field);
    }
    std::sort(fields_.begin(), fields_.end());
    fields_.erase(std::unique(fields_.begin(), fields_.end()), fields_.end());
    for (const InputColumn& column : info_->columns) {
        const auto found = std::find(fields_.begin(), fields_.end(), column.field);
        places_.push_back(column.field < 0 ? -1 : static_cast<int>(found - fields_.begin()));
    }
    const std::string& path = info_->file.path;
    if (info_->metadata == nullptr) {
        arrow_ = arrow_reader_of(path, fields_);
        return;
    }
    parquet_ = reader_of(path, info_->metadata);
    for (const int field : fields_) {
        leaves_.push_back(
            parquet_->manifest().schema_fields[static_cast<std::size_t>(field)].column_index);
    }
}

TableFile::~TableFile() = default;

void TableFile::append_group(int group, std::string& text, const std::function<bool()>& is_enough) {
    const std::string& path = info_->file.path;
    if (arrow_ != nullptr) {
        const auto batch = checked(path, arrow_->ReadRecordBatch(group));
        check(path, batch->ValidateFull());  // the places that it has of its texts, and the like
        (void)append_batch(*batch, text, is_enough);
        return;
    }
    const auto batches = checked(path, parquet_->GetRecordBatchReader({group}, leaves_));
    for (;;) {
        std::shared_ptr<arrow::RecordBatch> batch;
        check(path, batches->ReadNext(&batch));
        if (batch == nullptr || !append_batch(*batch, text, is_enough)) return;
    }
}

bool TableFile::append_batch(const arrow::RecordBatch& batch, std::string& text,
                             const std::function<bool()>& is_enough) const {
    if (batch.num_columns() < static_cast<int>(fields_.size())) {
        throw InputOutputError(info_->file.path + ": a group of rows lacks a column");
    }
    std::vector<Cells> cells;
    cells.reserve(fields_.size());
    for (std::size_t i = 0; i != fields_.size(); ++i) {
        cells.emplace_back(batch.column(static_cast<int>(i)));
    }
    for (std::int64_t row = 0; row != batch.num_rows(); ++row) {
        const std::size_t before = text.size();
        for (std::size_t i = 0; i != places_.size(); ++i) {
            if (i != 0) text += ',';
            if (places_[i] >= 0) {
                cells[static_cast<std::size_t>(places_[i])].append(text, row);
            } else if (const auto& value = info_->columns[i].value) {
                if (value->empty()) text += "\"\"";
                append_csv_field(text, *value, ',');
            }
        }
        if (text.size() == before) text += "\"\"";  // not a blank line, which readers pass over
        text += '\n';
        if (row % rows_at_once == rows_at_once - 1 && !is_enough()) return false;
    }
    return is_enough();
}

}  // namespace strid::parquet
