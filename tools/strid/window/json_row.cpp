// SPDX-License-Identifier: Apache-2.0
#include "json_row.hpp"

#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include <strid/connector/line_reader.hpp>
#include <strid/connector/malformed.hpp>

namespace strid::tool {

namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

static_assert(LineReader::slack_bytes >= simdjson::SIMDJSON_PADDING);

constexpr const char* no_member = "missing";
constexpr const char* null_member = "null";

std::size_t count_digits(std::string_view text) noexcept {
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
    return digits;
}

/// Takes one or more digits from the front.
bool take_digits(std::string_view& text) noexcept {
    const std::size_t digits = count_digits(text);
    text.remove_prefix(digits);
    return digits != 0;
}

/// RFC 8259, section 6: -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
bool is_json_number(std::string_view text) noexcept {
    if (text.starts_with('-')) text.remove_prefix(1);
    if (text.starts_with('0') && count_digits(text) > 1) return false;
    if (!take_digits(text)) return false;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        if (!take_digits(text)) return false;
    }
    if (text.starts_with('e') || text.starts_with('E')) {
        text.remove_prefix(1);
        if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
        if (!take_digits(text)) return false;
    }
    return text.empty();
}

std::string_view without_space_behind(std::string_view token) noexcept {
    const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!token.empty() && is_space(token.back())) token.remove_suffix(1);
    return token;
}

}  // namespace

struct JsonRow::Reader {
    ondemand::parser parser;
    std::string path;  // of the object in hand: empty or `a.b.`

    error_code read_line(JsonRow& row, char* line, std::size_t bytes);
    error_code read_members(JsonRow& row, ondemand::object& object, char* line);
    error_code read_member(JsonRow& row, ondemand::field& field, char* line);
    error_code read_text(ondemand::value& value, char* line, Found& found);
};

JsonRow::JsonRow(std::vector<JsonColumn> columns)
    : columns_(std::move(columns)), found_(columns_.size()), reader_(std::make_unique<Reader>()) {}
JsonRow::JsonRow(const JsonRow& other) : JsonRow(other.columns_) {}
JsonRow::JsonRow(JsonRow&& other) noexcept = default;
JsonRow::~JsonRow() = default;

std::string JsonRow::read(char* line, std::size_t bytes) {
    for (Found& found : found_) found = {{}, no_member};
    if (const error_code error = reader_->read_line(*this, line, bytes)) {
        return fmt::format("not a JSON object ({}): \"{}\"", simdjson::error_message(error),
                           excerpt({line, bytes}));
    }
    for (std::size_t i = 0; i < found_.size(); ++i) {
        const char* const fault = found_[i].fault;
        if (fault == nullptr || (fault == no_member && columns_[i].may_be_missing) ||
            (fault == null_member && columns_[i].may_be_null)) {
            continue;
        }
        return fmt::format("member '{}': {}", excerpt(columns_[i].name), fault);
    }
    return {};
}

error_code JsonRow::Reader::read_line(JsonRow& row, char* line, std::size_t bytes) {
    path.clear();
    ondemand::document document;
    const simdjson::padded_string_view text(line, bytes, bytes + simdjson::SIMDJSON_PADDING);
    if (const auto error = parser.iterate(text).get(document)) return error;
    ondemand::object object;
    if (const auto error = document.get_object().get(object)) return error;
    if (const auto error = read_members(row, object, line)) return error;
    const bool at_end = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
    return at_end ? simdjson::SUCCESS : simdjson::TRAILING_CONTENT;
}

error_code JsonRow::Reader::read_members(JsonRow& row, ondemand::object& object, char* line) {
    for (auto member : object) {
        ondemand::field field;
        if (const auto error = std::move(member).get(field)) return error;
        if (const auto error = read_member(row, field, line)) return error;
    }
    return simdjson::SUCCESS;
}

error_code JsonRow::Reader::read_member(JsonRow& row, ondemand::field& field, char* line) {
    const char* const begin = field.key().raw();
    const char* end = begin;
    while (*end != '"' && *end != '\\') ++end;  // a string that nothing closes was refused before
    std::string_view name(begin, static_cast<std::size_t>(end - begin));
    if (*end == '\\') {
        if (const auto error = field.unescaped_key().get(name)) return error;
    }
    Found found{};
    bool is_read = false;
    bool has_wanted_members = false;
    for (std::size_t i = 0; i < row.columns_.size(); ++i) {
        std::string_view wanted = row.columns_[i].name;
        if (!wanted.starts_with(path)) continue;
        wanted.remove_prefix(path.size());
        if (!wanted.starts_with(name)) continue;
        if (wanted.size() > name.size()) {
            has_wanted_members = has_wanted_members || wanted[name.size()] == '.';
            continue;
        }
        if (!std::exchange(is_read, true)) {
            if (const auto error = read_text(field.value(), line, found)) return error;
        }
        row.found_[i] = found;
    }
    if (!has_wanted_members) {
        return is_read ? simdjson::SUCCESS : read_text(field.value(), line, found);
    }
    ondemand::object object;
    if (field.value().get_object().get(object) != simdjson::SUCCESS) return simdjson::SUCCESS;
    const std::size_t outer = path.size();
    path.append(name) += '.';
    const error_code error = read_members(row, object, line);
    path.resize(outer);
    return error;
}

// A scalar is not consumed: the iteration goes on behind it, and looks for a comma or a bracket.
error_code JsonRow::Reader::read_text(ondemand::value& value, char* line, Found& found) {
    const std::string_view token = without_space_behind(value.raw_json_token());
    const char first = token.empty() ? '\0' : token.front();
    if (first == '{' || first == '[') {
        found.fault = first == '{' ? "an object" : "an array";
        return simdjson::SUCCESS;
    }
    if (token == "null") {
        found.fault = null_member;
        return simdjson::SUCCESS;
    }
    found = {token, nullptr};
    if (token == "true" || token == "false" || is_json_number(token)) return simdjson::SUCCESS;
    if (first != '"' || token.size() < 2) return simdjson::TAPE_ERROR;
    found.text = token.substr(1, token.size() - 2);
    if (found.text.find('\\') == std::string_view::npos) return simdjson::SUCCESS;
    std::string_view meant;  // in the parser's memory, and never longer than what it was read from
    if (const auto error = value.get_string().get(meant)) return error;
    char* const place = line + (found.text.data() - line);
    std::memcpy(place, meant.data(), meant.size());
    found.text = {place, meant.size()};
    return simdjson::SUCCESS;
}

}  // namespace strid::tool
