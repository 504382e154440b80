// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <strid/connector/csv_row.hpp>
#include <strid/connector/dead_letter_file.hpp>

namespace strid {

DeadLetterFile::DeadLetterFile(std::string path)
    : file_(std::make_shared<OutputFile>(std::move(path))) {
    file_->open();
}

void DeadLetterFile::operator()(const MalformedLine& line) const {
    std::string row;
    append_dead_letter(row, line);
    file_->append(row);
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
