// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/json_text.hpp>
#include <strid/engine/connector/message_rows.hpp>

namespace strid::detail {

namespace {

/// The column of rows with corrections, and its word for a row that is no more.
constexpr std::string_view correction_column = "correction";
constexpr std::string_view gone = "void";

/// The whole text is a number as JSON has them.
bool is_json_number(std::string_view text) noexcept {
    std::size_t i = 0;
    const auto digits = [&] {
        const std::size_t begin = i;
        while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
        return i - begin;
    };
    if (i < text.size() && text[i] == '-') ++i;
    const bool has_zero = i < text.size() && text[i] == '0';
    const std::size_t whole = digits();
    if (whole == 0 || (has_zero && whole > 1)) return false;
    if (i < text.size() && text[i] == '.') {
        ++i;
        if (digits() == 0) return false;
    }
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        ++i;
        if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
        if (digits() == 0) return false;
    }
    return i == text.size();
}

/// A field without quotes and without text is null; one that is a number is a number.
void append_json_value(std::string& out, CsvField& field) {
    const bool is_quoted = field.quoted;
    const std::string_view text = unescape_csv(field);
    if (text.empty() && !is_quoted) {
        out += "null";
    } else if (!is_quoted && (is_json_number(text) || text == "true" || text == "false")) {
        out += text;
    } else {
        out += json_text(text);
    }
}

}  // namespace

MessageRows::MessageRows(TransportAddress& address, bool has_headers) : address_(address.text()) {
    if (has_headers) {
        keys_ = address.take_list("key");
        header_names_ = address.take_list("header");
        const std::string tombstones = address.take("tombstones");
        has_tombstones_ = !tombstones.empty();
        if (has_tombstones_ && tombstones != "void") {
            address.refuse("tombstones of an output is void");
        }
        if (has_tombstones_ && keys_.empty()) {
            address.refuse("tombstones=void needs key=COL: a tombstone has nothing but its key");
        }
    } else if (std::string key = address.take("key"); !key.empty()) {
        keys_.push_back(std::move(key));
    }
    const std::string format = address.take("format");
    if (!format.empty() && format != "json" && format != "csv") {
        address.refuse("format is csv or json");
    }
    is_json_ = format == "json";
}

std::size_t MessageRows::column(std::string_view option, std::string_view name) const {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    if (found == columns_.end()) {
        throw GraphError(fmt::format("{}: {}: there is no column '{}'", address_, option, name));
    }
    return static_cast<std::size_t>(found - columns_.begin());
}

void MessageRows::set_columns(const std::vector<std::string>& columns) {
    columns_ = columns;
    key_columns_.clear();
    header_columns_.clear();
    correction_column_.reset();
    is_header_.assign(columns.size(), false);
    if (columns.empty()) return;
    for (const std::string& name : keys_) key_columns_.push_back(column("key", name));
    for (const std::string& name : header_names_) {
        header_columns_.push_back(column("header", name));
        is_header_[header_columns_.back()] = true;
    }
    if (std::find(is_header_.begin(), is_header_.end(), false) == is_header_.end()) {
        throw GraphError(address_ + ": header: no column is left for the message");
    }
    if (!has_tombstones_) return;
    const auto found = std::find(columns.begin(), columns.end(), correction_column);
    if (found == columns.end()) {
        throw GraphError(
            fmt::format("{}: tombstones=void needs the column '{}', which --corrections writes",
                        address_, correction_column));
    }
    correction_column_ = static_cast<std::size_t>(found - columns.begin());
}

void MessageRows::append_object(std::vector<CsvField>& fields) {
    payload_ = "{";
    for (std::size_t i = 0; i != fields.size(); ++i) {
        if (is_header_[i]) continue;
        if (payload_.size() != 1) payload_ += ',';
        payload_ += json_text(columns_[i]);
        payload_ += ':';
        append_json_value(payload_, fields[i]);
    }
    payload_ += '}';
}

/// The fields that are no headers, as they stand. Before they are unescaped.
void MessageRows::append_row(const std::vector<CsvField>& fields) {
    payload_.clear();
    bool is_first = true;
    for (std::size_t i = 0; i != fields.size(); ++i) {
        if (is_header_[i]) continue;
        if (!std::exchange(is_first, false)) payload_ += ',';
        const CsvField& field = fields[i];
        payload_.append(field.begin - (field.quoted ? 1 : 0), field.end + (field.quoted ? 1 : 0));
    }
}

/// Of several columns it is a row.
void MessageRows::note_key(std::vector<CsvField>& fields) {
    key_text_.clear();
    for (const std::size_t column : key_columns_) {
        const std::string_view text = unescape_csv(fields[column]);
        if (key_columns_.size() == 1) {
            key_text_ = text;
        } else {
            if (column != key_columns_.front()) key_text_ += ',';
            append_csv_field(key_text_, text, ',');
        }
    }
}

void MessageRows::note_headers(std::vector<CsvField>& fields) {
    headers_.clear();
    for (const std::size_t column : header_columns_) {
        const std::string_view text = unescape_csv(fields[column]);
        if (text.empty() && !fields[column].quoted) continue;
        headers_.push_back({columns_[column], text});
    }
}

MessageRows::Message MessageRows::message_of(std::string_view row, std::vector<CsvField>& fields) {
    Message message{.payload = row};
    if (!header_columns_.empty()) {
        append_row(fields);
        message.payload = payload_;
    } else if (!key_columns_.empty()) {
        payload_ = row;  // before a field is unescaped
        message.payload = payload_;
    }
    if (!key_columns_.empty()) {
        note_key(fields);
        message.key = key_text_;
    }
    note_headers(fields);
    message.headers = headers_;
    message.is_tombstone = correction_column_ && unescape_csv(fields[*correction_column_]) == gone;
    if (is_json_) {
        append_object(fields);
        message.payload = payload_;
    }
    return message;
}

void RowsOfText::for_each(std::string_view rows, std::string_view address, const Take& take) {
    constexpr std::size_t slack_bytes = 16;
    text_ = rows;
    text_.append(slack_bytes, '\0');
    CsvRowCutter cutter;
    char* const end = text_.data() + rows.size();
    for (char* row = text_.data(); row != end;) {
        const CsvRow cut = cutter.cut(row, end, ',', {rows.size(), rows.size()});
        if (cut.status != CsvRowStatus::row) {
            throw InputOutputError(fmt::format("{}: a row that is written is no CSV", address));
        }
        take({row, static_cast<std::size_t>(cut.next - row) - 1}, cutter.fields());
        row = cut.next;
    }
}

void MessageRows::for_each(std::string_view rows, const std::function<void(const Message&)>& send) {
    if (columns_.empty() && (is_json_ || !keys_.empty() || !header_names_.empty())) {
        throw GraphError(address_ + ": JSON, a key and headers need the names of the columns");
    }
    rows_.for_each(rows, address_, [&](std::string_view row, std::vector<CsvField>& fields) {
        if (!columns_.empty() && fields.size() != columns_.size()) {
            throw InputOutputError(fmt::format("{}: a row has {} fields, and there are {} columns",
                                               address_, fields.size(), columns_.size()));
        }
        send(message_of(row, fields));
    });
}

}  // namespace strid::detail
