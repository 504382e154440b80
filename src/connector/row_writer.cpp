// SPDX-License-Identifier: Apache-2.0
#include <strid/connector/row_writer.hpp>

namespace strid {

RowWriter::~RowWriter() {
    if (opened_) file_->abandon();  // only a run that was cut short comes here without close()
}

void RowWriter::open(std::string_view header, const Context& context) {
    file_->open(header, context.run);
    opened_ = true;
    begun_ = false;
    rows_.reserve(OutputFile::buffer_bytes + 4096);
}

void RowWriter::flush() {
    if (rows_.empty() && std::exchange(begun_, true)) return;
    file_->append(rows_);
    rows_.clear();
}

void RowWriter::close() {
    if (!opened_) return;
    flush();
    opened_ = false;
    file_->close();
}

}  // namespace strid
