// SPDX-License-Identifier: Apache-2.0
#include "table_writers.hpp"

namespace strid::tool {

LateWriter::LateWriter(const WindowJob& job)
    : file_(job.late),
      line_(job.plan->values.size()),
      writer_(file_ ? file_->path() : std::string{}, job.writing) {}

void LateWriter::on(const Opened& opened) {
    has_begun_ = false;
    if (file_) writer_.open({}, opened.context);
}

void LateWriter::operator()(const TableRow& row) {
    if (!file_) return;
    if (!has_begun_) begin();
    writer_.rows().append(row.text(line_)) += '\n';
    writer_.row_done();
}

void LateWriter::on(Closed) {
    if (file_) begin();
    writer_.close();
}

std::vector<FileUse> LateWriter::files() const {
    return file_ ? writer_.files() : std::vector<FileUse>{};
}

void LateWriter::begin() {
    writer_.begin_with(file_->header());
    has_begun_ = true;
}

SetAside::SetAside(const WindowJob& job, LateWriter writer)
    : limit_(job.progress.future),
      is_asked_for_(job.progress.future != Duration::zero()),
      count_(job.set_aside),
      writer_(std::move(writer)) {}

bool SetAside::operator()(const TableRow& row) {
    if (!is_asked_for_ || !limit_.is_beyond(row.time)) return true;
    count_->fetch_add(1, std::memory_order_relaxed);
    writer_(row);
    return false;
}

}  // namespace strid::tool
