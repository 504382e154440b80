// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/json_text.hpp>
#include <strid/engine/connector/message_rows.hpp>

namespace strid::detail {

namespace {

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

MessageRows::MessageRows(TransportAddress& address)
    : address_(address.text()), key_(address.take("key")) {
    const std::string format = address.take("format");
    if (!format.empty() && format != "json" && format != "csv") {
        address.refuse("format is csv or json");
    }
    is_json_ = format == "json";
}

void MessageRows::set_columns(const std::vector<std::string>& columns) {
    columns_ = columns;
    key_column_.reset();
    if (key_.empty() || columns.empty()) return;
    const auto found = std::find(columns.begin(), columns.end(), key_);
    if (found == columns.end()) {
        throw GraphError(fmt::format("{}: key: there is no column '{}'", address_, key_));
    }
    key_column_ = static_cast<std::size_t>(found - columns.begin());
}

void MessageRows::append_object(std::vector<CsvField>& fields) {
    payload_ = "{";
    for (std::size_t i = 0; i != fields.size(); ++i) {
        if (i != 0) payload_ += ',';
        payload_ += json_text(columns_[i]);
        payload_ += ':';
        append_json_value(payload_, fields[i]);
    }
    payload_ += '}';
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
    if (columns_.empty() && (is_json_ || !key_.empty())) {
        throw GraphError(address_ + ": JSON and a key need the names of the columns");
    }
    rows_.for_each(rows, address_, [&](std::string_view row, std::vector<CsvField>& fields) {
        if (!columns_.empty() && fields.size() != columns_.size()) {
            throw InputOutputError(fmt::format("{}: a row has {} fields, and there are {} columns",
                                               address_, fields.size(), columns_.size()));
        }
        Message message{.payload = row};
        if (key_column_) {
            payload_ = row;  // before its field is unescaped
            message.payload = payload_;
            key_text_ = unescape_csv(fields[*key_column_]);
            message.key = key_text_;
        }
        if (is_json_) {
            append_object(fields);
            message.payload = payload_;
        }
        send(message);
    });
}

}  // namespace strid::detail
