// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_source.hpp>

namespace strid {

namespace {

char* after_newline(char* begin, char* end) {
    return static_cast<char*>(std::memchr(begin, '\n', static_cast<std::size_t>(end - begin))) + 1;
}

std::string_view between(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

CsvSource::CsvSource(std::string path, CsvOptions options, std::size_t fields)
    : FileSource(std::move(path), options.text,
                 {options.on_malformed, options.dead_letter_path, options.dead_letter,
                  options.dead_letters}),
      options_(std::move(options)),
      columns_min_(fields) {
    check_csv_delimiter(options_.delimiter);
    const auto& columns = options_.columns;
    if (!columns.empty() && columns.size() != fields) {
        throw GraphError(
            fmt::format("csv_file: {} columns for a record of {} fields", columns.size(), fields));
    }
    for (const CsvColumn& column : columns) {
        if (!column.is_named() && column.number() == 0) {
            throw GraphError("csv_file: columns are counted from 1");
        }
    }
    const bool any_named = std::any_of(columns.begin(), columns.end(),
                                       [](const CsvColumn& column) { return column.is_named(); });
    has_header_ = any_named || options_.header == CsvHeader::skip;
}

void CsvSource::open(const Context& context) {
    FileSource::open(context);
    names_.clear();
    columns_.clear();
    started_ = false;
    header_done_ = false;
    if (!has_header_) header_done_ = take_header();
}

void CsvSource::start() {
    if (std::exchange(started_, true)) return;
    if (between(position_, end_).starts_with("\xEF\xBB\xBF")) position_ += 3;
}

// Settles which column fills which field, by the header row in fields_ if there is one.
bool CsvSource::take_header() {
    if (has_header_) {
        for (CsvField& field : fields_) names_.emplace_back(unescape_csv(field));
    }
    for (const CsvColumn& column : options_.columns) {
        if (!column.is_named()) {
            columns_.push_back(static_cast<std::size_t>(column.number()) - 1);
            continue;
        }
        const auto found = std::find(names_.begin(), names_.end(), column.name());
        if (found == names_.end()) {
            throw InputOutputError(fmt::format("{}:{}: no column '{}' in the header: {}",
                                               path() == "-" ? "standard input" : path(), row_line_,
                                               excerpt(column.name()), excerpt(row_, 200)));
        }
        columns_.push_back(static_cast<std::size_t>(found - names_.begin()));
    }
    if (!columns_.empty()) columns_min_ = *std::max_element(columns_.begin(), columns_.end()) + 1;
    direct_ = columns_.empty();
    return true;
}

CsvSource::Row CsvSource::next_row() {
    const CsvRow row = split_csv_row(position_, end_, options_.delimiter, fields_);
    if (row.status == CsvRowStatus::open_quote) return Row::partial;
    row_line_ = ++line_number_;
    row_ = between(position_, row.next - 1);
    if (!row_.empty() && row_.back() == '\r') row_.remove_suffix(1);
    const bool blank = row_.empty();
    position_ = row.next;
    raw_.clear();
    if (row.status == CsvRowStatus::text_after_quote) {
        refuse_row("text after a closing quote");
        return Row::none;
    }
    if (row.quoted) {
        line_number_ += static_cast<std::uint64_t>(std::count(row_.begin(), row_.end(), '\n'));
    }
    if (blank) return Row::none;
    if (row_.size() > line_bytes_max()) {
        refuse_too_long(row_);
        return Row::none;
    }
    if (!header_done_) {
        header_done_ = take_header();
        return Row::none;
    }
    const std::size_t found = fields_.size();
    if (found == columns_min_ || (found > columns_min_ && !columns_.empty())) return Row::ready;
    refuse_row(fmt::format("expected {}{} field{}, found {}", columns_.empty() ? "" : "at least ",
                           columns_min_, columns_min_ == 1 ? "" : "s", found));
    return Row::none;
}

std::string_view CsvSource::text_of(std::size_t index) {
    CsvField& field = fields_[columns_.empty() ? index : columns_[index]];
    if (field.escaped && raw_.empty() && options_.on_malformed != OnMalformed::stop) raw_ = row_;
    return unescape_csv(field);
}

void CsvSource::refuse_field(std::size_t index, detail::CsvFault fault) {
    const std::size_t column = columns_.empty() ? index : columns_[index];
    std::string reason = fmt::format("field {}", column + 1);
    if (column < names_.size()) reason += fmt::format(" '{}'", excerpt(names_[column]));
    reason += fmt::format(": {}: \"{}\"", fault, excerpt(fields_[column].text()));
    if (row_line_ == 1 && !has_header_) reason += " (a header? then set .header)";
    refuse_row(reason);
}

void CsvSource::refuse_row(std::string_view reason) {
    refuse(row_line_, reason, raw_.empty() ? row_ : std::string_view(raw_));
}

void CsvSource::refuse_open_quote() {
    char* const next = after_newline(position_, end_);
    row_line_ = ++line_number_;
    row_ = between(position_, next);
    raw_.clear();
    position_ = next;
    refuse_row("a quoted field is never closed");
}

}  // namespace strid
