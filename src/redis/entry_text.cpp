// SPDX-License-Identifier: Apache-2.0
#include "entry_text.hpp"

#include <algorithm>

#include <strid/engine/base/json_text.hpp>
#include <strid/engine/connector/csv_row.hpp>

namespace strid::redis {

namespace {

void append_json(std::string& out, std::string_view text) {
    const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
        return c >= ' ' && c < '\x7f' && c != '"' && c != '\\';
    });
    if (is_plain) {
        ((out += '"') += text) += '"';
    } else {
        out += json_text(text);
    }
}

/// The last value of the name, as the last member of an object counts; null: there is none.
const ::redisReply* last_of(const ::redisReply& fields, std::string_view name) noexcept {
    const ::redisReply* found = nullptr;
    for (std::size_t i = 0; i + 1 < fields.elements; i += 2) {
        if (text_of(*fields.element[i]) == name) found = fields.element[i + 1];
    }
    return found;
}

}  // namespace

EntryText::EntryText(TransportAddress& address)
    : field_(address.take("field")), columns_(address.take_list("columns")) {
    if (!field_.empty() && !columns_.empty()) {
        address.refuse("field=NAME reads the text of one field, and columns=A,B several");
    }
}

std::string_view EntryText::of(const ::redisReply& fields) {
    if (!field_.empty()) {
        const ::redisReply* const found = last_of(fields, field_);
        return found == nullptr ? std::string_view{} : text_of(*found);
    }
    text_.clear();
    columns_.empty() ? append_object(fields) : append_row(fields);
    return text_;
}

const std::string& EntryText::member(std::size_t number, std::string_view name) {
    if (members_.size() <= number) members_.resize(number + 1);
    auto& [known, text] = members_[number];
    if (known != name || text.empty()) {
        known = name;
        text = json_text(name) + ':';
    }
    return text;
}

/// Values as strings, which keep each character: a column of numbers reads them as well.
void EntryText::append_object(const ::redisReply& fields) {
    text_ += '{';
    for (std::size_t i = 0; i + 1 < fields.elements; i += 2) {
        if (i != 0) text_ += ',';
        text_ += member(i / 2, text_of(*fields.element[i]));
        append_json(text_, text_of(*fields.element[i + 1]));
    }
    text_ += '}';
}

/// An empty value is an empty text, a missing one an empty field.
void EntryText::append_row(const ::redisReply& fields) {
    for (std::size_t i = 0; i != columns_.size(); ++i) {
        if (i != 0) text_ += ',';
        const ::redisReply* const found = last_of(fields, columns_[i]);
        if (found == nullptr) continue;
        const std::string_view value = text_of(*found);
        value.empty() ? text_ += "\"\"" : (append_csv_field(text_, value, ','), text_);
    }
}

}  // namespace strid::redis
