// SPDX-License-Identifier: Apache-2.0
#include <strid/base/error.hpp>
#include <strid/connector/row_writer.hpp>

namespace strid {

RowWriter::~RowWriter() {
    if (!opened_) return;
    try {
        file_->close();
    } catch (const InputOutputError&) {
        // Only a run that has failed already comes here without close().
    }
}

void RowWriter::open(std::string_view header) {
    file_->open(header);
    opened_ = true;
    rows_.reserve(OutputFile::buffer_bytes + 4096);
}

void RowWriter::flush() {
    if (rows_.empty()) return;
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
