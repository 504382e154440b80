// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/transport.hpp>
#include <strid/engine/base/text.hpp>
#include <strid/engine/connector/csv_source.hpp>

#include "csv_header.hpp"

namespace strid {

namespace {

constexpr std::size_t lines_looked_at_again_max = 64;

/// Chooses limits that are not given: a quote must not silence an input that may fall silent.
CsvQuoteLimits chosen_quote_limits(const CsvOptions& options, bool is_live) {
    constexpr CsvQuoteLimits live{100, std::size_t{64} << 10};
    const CsvQuoteLimits chosen =
        is_live ? live : CsvQuoteLimits{SIZE_MAX, options.text.line_bytes_max};
    return {options.quoted_lines_max != 0 ? options.quoted_lines_max : chosen.lines_max,
            options.quoted_bytes_max != 0 ? options.quoted_bytes_max : chosen.bytes_max};
}

char* after_newline(char* begin, char* end) {
    return static_cast<char*>(std::memchr(begin, '\n', static_cast<std::size_t>(end - begin))) + 1;
}

void check_dialect(const CsvOptions& options) {
    const char comment = options.comment;
    if (comment == '"' || comment == '\n' || comment == '\r' || comment == options.delimiter) {
        throw GraphError(
            "CSV comments cannot begin with the delimiter, a quote or the end of a line");
    }
    const char escape = options.escape;
    if (escape == '"' || escape == '\n' || escape == '\r' ||
        (escape != '\0' && (escape == options.delimiter || escape == comment))) {
        throw GraphError(
            "a CSV escape cannot be a quote, the delimiter, the begin of comments or the end of a "
            "line");
    }
}

detail::OptionStyle style(bool on_command_line) noexcept {
    return on_command_line ? detail::OptionStyle::command_line : detail::OptionStyle::member;
}

std::string_view between(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
}

/// Rows of a table always have a header in front, also those of a run that goes on at a position.
bool has_messages(const ByteReader& bytes, const std::string& path) {
    return bytes.has_positions() && !transport_is_table(path);
}

}  // namespace

CsvSource::CsvSource(std::vector<std::string> paths, CsvOptions options, std::size_t fields)
    : FileSource(std::move(paths), options), options_(std::move(options)), columns_min_(fields) {
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
    check_dialect(options_);
    const bool any_named = std::any_of(columns.begin(), columns.end(),
                                       [](const CsvColumn& column) { return column.is_named(); });
    has_header_ = any_named || options_.header == CsvHeader::skip;
}

CsvSource::CsvSource(const CsvSource&) = default;
CsvSource::CsvSource(CsvSource&&) noexcept = default;
CsvSource::~CsvSource() = default;

void CsvSource::begin(const Context& context) {
    FileSource::begin(context);
    begin_input();
}

void CsvSource::begin_input() {
    names_.clear();
    header_line_.clear();
    header_bytes_ = no_header;
    lines_to_skip_ = options_.skip_lines;
    columns_.clear();
    cutter_.forget();
    // A table or a query, as a file, has no quote that a client has forgotten.
    const bool is_query =
        reader_ && !has_messages(reader_->bytes(), path()) && !input_goes_away(path());
    quote_limits_ = chosen_quote_limits(options_, !is_query && input_may_block(path()));
    fields_per_row_ = 0;
    looked_at_line_ = 0;
    header_done_ = false;
    if (!has_header_ && !transport_is_table(path())) settle_columns();
}

void CsvSource::fail_header(const std::string& reason) const {
    throw InputOutputError(fmt::format("{}:{}: {}", excerpt(name(), 4096), row_line_, reason));
}

std::size_t CsvSource::column_by_name(const std::string& name) const {
    auto found = detail::find_column(
        {names_, header_line_, options_.delimiter, style(on_command_line_)}, name);
    if (!found.fault.empty()) fail_header(found.fault);
    return found.column;
}

// The header is the row at hand.
void CsvSource::take_header() {
    if (has_messages(reader_->bytes(), path())) {
        throw InputOutputError(fmt::format(
            "{}: messages of CSV have no header: {}", name(),
            on_command_line_ ? "--no-header, with the numbers of columns" : "CsvHeader::none"));
    }
    header_line_ = row_;
    for (CsvField& field : cutter_.fields()) {
        const std::string_view name = unescape_csv(field, options_.escape);
        names_.emplace_back(field.quoted ? name : detail::trimmed(name));
    }
    settle_columns();
    if (!options_.ragged && !columns_.empty()) {
        fields_per_row_ = names_.size();
        if (columns_min_ > names_.size()) {
            fail_header(fmt::format("no column {}: the header has {}: {}", columns_min_,
                                    names_.size(), excerpt(header_line_, 200)));
        }
    }
    header_bytes_ = header_line_.size();
}

bool CsvSource::is_header_again() const noexcept {
    const std::string_view line = without_byte_order_mark(row_);  // of a file behind another
    return is_header(line.data(), line.size());
}

bool CsvSource::is_null(std::string_view text) const noexcept {
    const auto& words = options_.null_words;
    return std::find(words.begin(), words.end(), detail::trimmed(text)) != words.end();
}

// Which column fills which field. Rows that are the record's fields one to one have as many.
void CsvSource::settle_columns() {
    for (const CsvColumn& column : options_.columns) {
        columns_.push_back(column.is_named() ? column_by_name(column.name())
                                             : static_cast<std::size_t>(column.number()) - 1);
    }
    if (!columns_.empty()) columns_min_ = *std::max_element(columns_.begin(), columns_.end()) + 1;
    if (columns_.empty() && !options_.ragged) fields_per_row_ = columns_min_;
    direct_ = columns_.empty() && options_.quotes && options_.escape == '\0' &&
              !options_.decimal_comma && options_.null_words.empty();
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
    if (row.status == CsvRowStatus::text_after_quote && row.lines == 0) {
        refuse_row("text after a closing quote");
    } else if (row.status == CsvRowStatus::text_after_quote) {
        refuse_row("a quoted field is not closed in its line, nor well behind it");
    } else if (row.lines >= limits.lines_max) {
        refuse_row(fmt::format("a quoted field is not closed within {} lines", limits.lines_max));
    } else {
        refuse_row(fmt::format("a quoted field is not closed within {} bytes", limits.bytes_max));
    }
}

// A line that is no part of the table.
bool CsvSource::pass_line() {
    if (lines_to_skip_ == 0 && !is_comment(position_)) return false;
    if (lines_to_skip_ != 0) --lines_to_skip_;
    position_ = after_newline(position_, end_);
    ++line_number_;
    return true;
}

CsvSource::Row CsvSource::next_row() {
    if (pass_line()) return Row::none;
    const CsvQuoteLimits limits = quote_limits();
    const CsvRow row = cutter_.cut(position_, end_, options_.delimiter, limits,
                                   {options_.quotes, options_.escape});
    if (row.status == CsvRowStatus::open_quote) return Row::partial;
    row_line_ = line_number_ + 1;
    row_ = between(position_, row.next - 1);
    if (!row_.empty() && row_.back() == '\r') row_.remove_suffix(1);
    position_ = row.next;
    raw_.clear();
    scanned_ = nullptr;
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
    if (is_header_again()) return Row::none;
    return has_all_fields() ? Row::ready : Row::none;
}

// Otherwise the row is refused. The first row that has what is asked for says how many there are.
bool CsvSource::has_all_fields() {
    const std::size_t found = cutter_.fields().size();
    if (options_.ragged) return true;
    if (fields_per_row_ == 0 && found >= columns_min_) fields_per_row_ = found;
    if (found == fields_per_row_) return true;
    const std::size_t expected = fields_per_row_ == 0 ? columns_min_ : fields_per_row_;
    std::string reason =
        fmt::format("expected {}{} field{}, found {}", fields_per_row_ == 0 ? "at least " : "",
                    expected, expected == 1 ? "" : "s", found);
    if (found == 1) {
        reason += detail::has_lone_return(row_)
                      ? fmt::format(" ({})", detail::lone_returns)
                      : detail::dialect_hint_of_row(row_, options_.delimiter, expected,
                                                    style(on_command_line_));
    } else if (found == expected + 1 && cutter_.fields().back().text().empty()) {
        reason += on_command_line_
                      ? " (the row ends with a delimiter, and the header does not: --ragged)"
                      : " (the row ends with a delimiter, and the header does not: .ragged = true)";
    }
    refuse_row(reason);
    return false;
}

std::string_view CsvSource::text_of(std::size_t index) {
    const std::size_t column = columns_.empty() ? index : columns_[index];
    if (column >= cutter_.fields().size()) return {};  // of a ragged row
    CsvField& field = cutter_.fields()[column];
    if (field.escaped) {
        note_change(field.begin, static_cast<std::size_t>(field.end - field.begin));
        if (raw_.empty() && options_.on_malformed != OnMalformed::stop) raw_ = row_;
    }
    return unescape_csv(field, options_.escape);
}

void CsvSource::refuse_field(std::size_t index, detail::CsvFault fault) {
    const std::size_t column = columns_.empty() ? index : columns_[index];
    std::string reason = fmt::format("field {}", column + 1);
    if (column < names_.size()) reason += fmt::format(" '{}'", excerpt(names_[column]));
    reason += fmt::format(": {}: \"{}\"", fault, excerpt(text_of(index)));
    if (row_line_ == 1) reason += header_hint(text_of(index));
    const std::string_view fault_text = fault;
    if (fault_text.starts_with("not a number") || fault_text.starts_with("not a finite")) {
        reason += detail::null_hint(text_of(index), style(on_command_line_));
    }
    refuse_row(reason);
}

std::string CsvSource::header_hint(std::string_view text) const {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    text = detail::trimmed(text);
    if (has_header_ || text.empty() || !is_letter(text.front())) return {};
    if (detail::has_lone_return(row_)) return fmt::format(" ({})", detail::lone_returns);
    return fmt::format(" (line 1 looks like a header, and none is expected: {})",
                       on_command_line_ ? "then without --no-header"
                                        : "leave it out as tail -n +2 does, or set .header");
}

void CsvSource::refuse_row(std::string_view reason) {
    refuse(row_line_, reason, raw_.empty() ? row_ : std::string_view(raw_));
}

void CsvSource::refuse_emitted(std::string_view reason) {
    if (scanned_ != nullptr) {
        row_line_ = line_number_;
        row_ = between(scanned_, position_ - 1);
        if (row_.ends_with('\r')) row_.remove_suffix(1);
        raw_.clear();
    }
    refuse_row(row_line_ == 1 ? std::string(reason) + header_hint(row_) : std::string(reason));
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
    if (options_.on_malformed == OnMalformed::stop || !input_goes_away(path())) return false;
    refuse_open_quote();
    return true;
}

}  // namespace strid
