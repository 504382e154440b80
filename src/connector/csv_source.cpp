// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_source.hpp>

namespace strid {

namespace {

constexpr std::size_t lines_looked_at_again_max = 64;

/// What is not given is chosen: an input that may fall silent must not be silenced by a quote.
CsvQuoteLimits chosen_quote_limits(const CsvOptions& options, bool is_live) {
    CsvQuoteLimits limits{options.quoted_lines_max, options.quoted_bytes_max};
    if (limits.lines_max == 0) limits.lines_max = is_live ? 100 : 100'000;
    if (limits.bytes_max == 0) limits.bytes_max = std::size_t{1} << (is_live ? 16 : 24);
    return limits;
}

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
    cutter_.forget();
    quote_limits_ = chosen_quote_limits(options_, blocks());
    fields_per_row_ = 0;
    looked_at_line_ = 0;
    started_ = false;
    header_done_ = false;
    if (!has_header_) settle_columns();
}

void CsvSource::start() {
    if (std::exchange(started_, true)) return;
    if (between(position_, end_).starts_with("\xEF\xBB\xBF")) position_ += 3;
}

void CsvSource::fail_header(const std::string& reason) const {
    throw InputOutputError(fmt::format("{}:{}: {}", excerpt(name(), 4096), row_line_, reason));
}

std::size_t CsvSource::column_by_name(const std::string& name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) {
        fail_header(
            fmt::format("no column '{}' in the header: {}", excerpt(name), excerpt(row_, 200)));
    }
    return static_cast<std::size_t>(found - names_.begin());
}

// The header is the row at hand.
void CsvSource::take_header() {
    for (CsvField& field : cutter_.fields()) names_.emplace_back(unescape_csv(field));
    settle_columns();
    if (!options_.ragged && !columns_.empty()) {
        fields_per_row_ = names_.size();
        if (columns_min_ > names_.size()) {
            fail_header(fmt::format("no column {}: the header has {}: {}", columns_min_,
                                    names_.size(), excerpt(row_, 200)));
        }
    }
}

// Which column fills which field. Rows that are the record's fields one to one have as many.
void CsvSource::settle_columns() {
    for (const CsvColumn& column : options_.columns) {
        columns_.push_back(column.is_named() ? column_by_name(column.name())
                                             : static_cast<std::size_t>(column.number()) - 1);
    }
    if (!columns_.empty()) columns_min_ = *std::max_element(columns_.begin(), columns_.end()) + 1;
    direct_ = columns_.empty();
    if (direct_ && !options_.ragged) fields_per_row_ = columns_min_;
    header_done_ = true;
}

CsvQuoteLimits CsvSource::quote_limits() const noexcept {
    CsvQuoteLimits limits = quote_limits_;
    // These lines were looked at once: each of them may begin a row that goes on as far again.
    if (line_number_ < looked_at_line_) {
        limits.lines_max = std::min(limits.lines_max, lines_looked_at_again_max);
    }
    return limits;
}

// Only the first line of the row is passed; what is behind it may be rows.
void CsvSource::refuse_first_line(const CsvRow& row, const CsvQuoteLimits& limits) {
    ++line_number_;
    looked_at_line_ = std::max(looked_at_line_, row_line_ + row.lines);
    if (row.status == CsvRowStatus::text_after_quote) {
        refuse_row("text after a closing quote");
    } else if (row.lines >= limits.lines_max) {
        refuse_row(fmt::format("a quoted field is not closed within {} lines", limits.lines_max));
    } else {
        refuse_row(fmt::format("a quoted field is not closed within {} bytes", limits.bytes_max));
    }
}

CsvSource::Row CsvSource::next_row() {
    const CsvQuoteLimits limits = quote_limits();
    const CsvRow row = cutter_.cut(position_, end_, options_.delimiter, limits);
    if (row.status == CsvRowStatus::open_quote) return Row::partial;
    row_line_ = line_number_ + 1;
    row_ = between(position_, row.next - 1);
    if (!row_.empty() && row_.back() == '\r') row_.remove_suffix(1);
    position_ = row.next;
    raw_.clear();
    if (row.status != CsvRowStatus::row) {
        refuse_first_line(row, limits);
        return Row::none;
    }
    line_number_ += 1 + row.lines;
    if (row_.empty()) return Row::none;
    if (row_.size() > line_bytes_max()) {
        refuse_too_long(row_);
        return Row::none;
    }
    if (!header_done_) {
        take_header();
        return Row::none;
    }
    return has_all_fields() ? Row::ready : Row::none;
}

// Otherwise the row is refused. The first row that has what is asked for says how many there are.
bool CsvSource::has_all_fields() {
    const std::size_t found = cutter_.fields().size();
    if (options_.ragged) return true;
    if (fields_per_row_ == 0 && found >= columns_min_) fields_per_row_ = found;
    if (found == fields_per_row_) return true;
    const std::size_t expected = fields_per_row_ == 0 ? columns_min_ : fields_per_row_;
    refuse_row(fmt::format("expected {}{} field{}, found {}",
                           fields_per_row_ == 0 ? "at least " : "", expected,
                           expected == 1 ? "" : "s", found));
    return false;
}

std::string_view CsvSource::text_of(std::size_t index) {
    const std::size_t column = columns_.empty() ? index : columns_[index];
    if (column >= cutter_.fields().size()) return {};  // of a ragged row
    CsvField& field = cutter_.fields()[column];
    if (field.escaped && raw_.empty() && options_.on_malformed != OnMalformed::stop) raw_ = row_;
    return unescape_csv(field);
}

void CsvSource::refuse_field(std::size_t index, detail::CsvFault fault) {
    const std::size_t column = columns_.empty() ? index : columns_[index];
    std::string reason = fmt::format("field {}", column + 1);
    if (column < names_.size()) reason += fmt::format(" '{}'", excerpt(names_[column]));
    reason += fmt::format(": {}: \"{}\"", fault, excerpt(text_of(index)));
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
    looked_at_line_ = std::max(looked_at_line_, row_line_ + cutter_.lines());
    cutter_.forget();
    refuse_row("a quoted field is never closed");
}

bool CsvSource::pass_open_quote_at_stop() {
    if (options_.on_malformed == OnMalformed::stop || !blocks()) return false;
    refuse_open_quote();
    return true;
}

}  // namespace strid
