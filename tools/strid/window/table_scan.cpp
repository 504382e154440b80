// SPDX-License-Identifier: Apache-2.0
//
// The part of TableSource that reads plain rows of CSV, in one pass.
#include "plain_fields.hpp"
#include "table_source.hpp"

namespace strid::tool {

namespace {

[[gnu::noinline]] bool scan_number(const char* p, const char* end, TableNumber& number) noexcept {
    number.kind = ValueKind::integer;
    if (read_whole_number(p, end, number.value.integer)) return true;
    const std::string_view text(p, static_cast<std::size_t>(end - p));
    if (text.substr(1).find_first_not_of("0123456789") == std::string_view::npos) {
        return read_table_number(text, number, NonFinite::reject) == nullptr;
    }
    if (read_truth(text, number)) return true;
    number.kind = ValueKind::decimal;
    return detail::scan_floating(p, end, number.value.decimal) && p == end;
}

}  // namespace

bool TableSource::scan_in_dialect(std::string_view text, std::size_t value, const TableRow& row) {
    text = without_null(text);
    if (plan_->values[value].is_text) {
        row.set_text_or_missing(value, text);
        return true;
    }
    row.forget(value);
    if (detail::trimmed(text).empty()) return true;
    TableNumber number;
    if (read_number(text, number_format(), number) != nullptr) return false;
    row.set_number(value, number);
    return true;
}

bool TableSource::scan_field(const char* begin, const char* end, const Step& step, TableRow& row) {
    const std::string_view text(begin, static_cast<std::size_t>(end - begin));
    switch (step.target) {
        case Step::Target::nothing:
            return true;
        case Step::Target::key:
            row.key = text;
            return true;
        case Step::Target::key_part:
            key_[step.index] = text;
            return true;
        case Step::Target::time:
            return times_.scan(begin, end, row.time) || times_.read(text, row.time) == nullptr;
        case Step::Target::time_part:
            time_parts_[step.index] = text;
            return true;
        case Step::Target::number_and_text:
            row.set_text_or_missing(step.text_index, text);
            [[fallthrough]];
        case Step::Target::number: {
            if (text.empty()) {
                row.forget(step.index);
                return true;
            }
            TableNumber number;
            if (!read_short_number(begin, end, number) && !scan_number(begin, end, number)) {
                return false;
            }
            row.set_number(step.index, number);
            return true;
        }
        case Step::Target::in_dialect:
            return scan_in_dialect(text, step.index, row);
        default:
            row.set_text_or_missing(step.index, text);
            return true;
    }
}

bool TableSource::scan_row(TableRow& row) {
    const char* field = position_;
    if (*field == '\r' || *field == '\n' || is_comment(field)) return false;
    FieldEnds ends(field, options().delimiter);
    const char quote = options().quotes ? '"' : '\0';
    const char* end = nullptr;
    const Step* const last = &steps_.back();
    for (const Step* step = &steps_.front();; ++step) {
        if (*field == quote) return false;
        end = ends.next();
        const char* text_end = end;
        if (*end == '\n') {
            if (step != last) return false;
            if (end != field && end[-1] == '\r') --text_end;
        }
        if (!scan_field(field, text_end, *step, row)) return false;
        field = end + 1;
        if (step == last) break;
    }
    std::size_t fields = steps_.size();
    for (; *end != '\n'; ++fields) {
        if (*field == quote) return false;
        end = ends.next();
        field = end + 1;
    }
    if (fields != fields_per_row() && fields_per_row() != 0) return false;
    if (plan_->times.size() > 1 && read_time_parts(row.time) != nullptr) return false;
    const auto length = static_cast<std::size_t>(end - position_);
    if (length > line_bytes_max() || is_header(position_, length)) return false;
    line_ = {position_, length};
    is_line_copied_ = false;
    ++line_number_;
    position_ += length + 1;
    times_.take();
    complete(row);
    return true;
}

CsvSource::Row TableSource::read_carefully(TableRow& row) {
    switch (format()) {
        case TableFormat::json:
            return read_json_row(row);
        case TableFormat::csv:
            return read_csv_row(row);
        default:
            return pass_blank_lines();
    }
}

}  // namespace strid::tool
