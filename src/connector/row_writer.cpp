// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <strid/connector/row_writer.hpp>

namespace strid {

RowWriter::RowWriter(std::string path, Writing writing, RowFormat format)
    : output_(make_row_output(std::move(path), writing, format)) {}

RowWriter::RowWriter(const RowWriter& other) : output_(other.output_) {}

RowWriter::RowWriter(RowWriter&& other) noexcept
    : output_(other.output_),
      rows_(std::move(other.rows_)),
      opened_(std::exchange(other.opened_, false)) {}

RowWriter::~RowWriter() {
    if (opened_) output_->abandon();  // only a run that was cut short comes here without close()
}

void RowWriter::open(std::string_view header, const Context& context) {
    output_->open(header, context.run);
    opened_ = true;
    begun_ = false;
    snapshot_ = 0;
    rows_.reserve(RowOutput::buffer_bytes + 4096);
}

void RowWriter::flush() {
    if (rows_.empty() && std::exchange(begun_, true)) return;
    output_->append(rows_, snapshot_);
    rows_.clear();
}

void RowWriter::begin_snapshot(std::uint64_t number) {
    flush();
    output_->begin_snapshot(number);
    snapshot_ = number;
}

std::vector<FileUse> RowWriter::files() const {
    return output_->uses();
}

void RowWriter::close() {
    if (!opened_) return;
    flush();
    opened_ = false;
    output_->close(snapshot_);
}

}  // namespace strid
