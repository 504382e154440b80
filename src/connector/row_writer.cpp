// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <strid/connector/row_writer.hpp>

namespace strid {

RowWriter::RowWriter(std::string path, Writing writing)
    : file_(std::make_shared<OutputFile>(std::move(path), writing)) {}

RowWriter::RowWriter(const RowWriter& other) : file_(other.file_) {}

RowWriter::RowWriter(RowWriter&& other) noexcept
    : file_(other.file_),
      rows_(std::move(other.rows_)),
      opened_(std::exchange(other.opened_, false)) {}

RowWriter::~RowWriter() {
    if (opened_) file_->abandon();  // only a run that was cut short comes here without close()
}

void RowWriter::open(std::string_view header, const Context& context) {
    file_->open(header, context.run);
    opened_ = true;
    begun_ = false;
    snapshot_ = 0;
    rows_.reserve(OutputFile::buffer_bytes + 4096);
}

void RowWriter::flush() {
    if (rows_.empty() && std::exchange(begun_, true)) return;
    file_->append(rows_, snapshot_);
    rows_.clear();
}

void RowWriter::begin_snapshot(std::uint64_t number) {
    flush();
    file_->begin_snapshot(number);
    snapshot_ = number;
}

std::vector<FileUse> RowWriter::files() const {
    return {file_->use()};
}

void RowWriter::close() {
    if (!opened_) return;
    flush();
    opened_ = false;
    file_->close(snapshot_);
}

}  // namespace strid
