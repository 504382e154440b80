// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <strid/connector/dead_letter_file.hpp>
#include <strid/engine/connector/csv_row.hpp>
#include <strid/engine/connector/malformed_handler.hpp>

namespace strid {

DeadLetterFile::DeadLetterFile(std::string path, Writing writing)
    : shared_(std::make_shared<Shared>()) {
    shared_->file = std::make_shared<OutputFile>(std::move(path), writing);
}

DeadLetterFile::Shared::~Shared() {
    if (!opened.load(std::memory_order_relaxed)) return;  // relaxed: the last owner is alone
    try {
        file->close();
    } catch (const std::exception&) {
        // Every line was written before. An error of closing cannot be reported from a destructor.
    }
}

void DeadLetterFile::operator()(const MalformedLine& line) const {
    std::string row;
    append_dead_letter(row, line);
    if (shared_->file->open_if_closed()) shared_->opened.store(true, std::memory_order_relaxed);
    shared_->file->append(row);
}

void append_dead_letter(std::string& rows, const MalformedLine& line) {
    append_csv_field(rows, line.file, ',');
    fmt::format_to(std::back_inserter(rows), ",{},", line.line);
    append_csv_field(rows, line.reason, ',');
    rows += ',';
    append_csv_field(rows, line.text, ',');
    rows += '\n';
}

}  // namespace strid
