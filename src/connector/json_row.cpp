// SPDX-License-Identifier: Apache-2.0
//
// simdjson's on-demand parser finds where tokens begin and that all is UTF-8; of what is not asked
// for for it only counts brackets. So everything is walked here, down to each scalar: what it is
// made of, and that a comma or the right bracket follows it.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include <strid/engine/base/excerpt.hpp>
#include <strid/engine/connector/json_row.hpp>
#include <strid/engine/connector/line_reader.hpp>

#include "json_paths.hpp"
#include "json_shapes.hpp"

namespace strid {

namespace {

namespace ondemand = simdjson::ondemand;
using detail::JsonPaths;
using simdjson::error_code;

static_assert(LineReader::slack_bytes >= simdjson::SIMDJSON_PADDING);

constexpr const char* no_member = "missing";
constexpr const char* null_member = detail::JsonShapes::null_member;

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// RFC 8259, section 6: -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
bool is_json_number(const char* p, const char* end) noexcept {
    const auto take_digits = [&p, end] {
        const char* const begin = p;
        while (p != end && is_digit(*p)) ++p;
        return p != begin;
    };
    if (p != end && *p == '-') ++p;
    if (p != end && *p == '0') {
        ++p;
    } else if (!take_digits()) {
        return false;
    }
    if (p != end && *p == '.') {
        ++p;
        if (!take_digits()) return false;
    }
    if (p != end && (*p == 'e' || *p == 'E')) {
        ++p;
        if (p != end && (*p == '+' || *p == '-')) ++p;
        if (!take_digits()) return false;
    }
    return p == end;
}

bool is_hex_digit(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// RFC 8259, section 7, of the text between the quotes, from its first backslash on. The text ends
/// with a quote that no backslash escapes.
bool has_valid_escapes(std::string_view text, std::size_t backslash) noexcept {
    while (backslash != std::string_view::npos) {
        const char escaped = text[backslash + 1];
        std::size_t next = backslash + 2;
        if (escaped == 'u') {
            if (text.size() - next < 4) return false;
            for (const std::size_t end = next + 4; next != end; ++next) {
                if (!is_hex_digit(text[next])) return false;
            }
        } else if (std::strchr("\"\\/bfnrt", escaped) == nullptr || escaped == '\0') {
            return false;
        }
        backslash = text.find('\\', next);
    }
    return true;
}

bool is_space(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

const char* advice_on(std::string_view text) noexcept {
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    if (text.starts_with('[')) return " (an array? `jq -c .[]` makes a line of each element)";
    if (!text.starts_with('{') || text.ends_with('}')) return "";
    return " (does it go on in the next line? `jq -c .` makes one line of it)";
}

}  // namespace

struct JsonRow::Reader {
    using Found = detail::JsonFound;
    /// The array or object around a value: its bracket ends the value where no comma does.
    struct Place {
        char closing;
        std::size_t depth;
    };

    explicit Reader(const std::vector<JsonColumn>& columns) {
        for (const JsonColumn& column : columns) ways.push_back(paths.add(column.name));
        found.resize(paths.slots());
    }

    error_code read_line(char* text, std::size_t bytes);
    error_code read_with_care(char* text, std::size_t bytes);
    error_code read_members(ondemand::object& object, const JsonPaths::Node* wanted,
                            std::size_t depth);
    error_code read_member(ondemand::field& field, const JsonPaths::Node* wanted,
                           std::size_t depth);
    error_code read_value(ondemand::value& value, const JsonPaths::Entry* wanted, Place place);
    error_code read_array(ondemand::array& array, std::size_t depth);
    error_code read_scalar(ondemand::value& value, std::string_view token, Found* wanted);
    error_code read_string(ondemand::value& value, std::string_view token, Found* wanted);
    [[nodiscard]] const Found& choose(std::size_t column) const noexcept;

    JsonPaths paths;
    std::vector<std::vector<std::size_t>> ways;  // of each column, those that count most first
    std::vector<Found> found;                    // by slot
    detail::JsonShapes shapes;
    ondemand::parser parser;
    char* line = nullptr;
};

JsonRow::JsonRow(std::vector<JsonColumn> columns)
    : columns_(std::move(columns)),
      texts_(columns_.size()),
      reader_(std::make_unique<Reader>(columns_)) {}
JsonRow::JsonRow(const JsonRow& other) : JsonRow(other.columns_) {}
JsonRow::JsonRow(JsonRow&& other) noexcept = default;
JsonRow::~JsonRow() = default;

std::string JsonRow::read(char* line, std::size_t bytes) {
    if (const error_code error = reader_->read_line(line, bytes)) {
        const std::string_view text(line, bytes);
        return fmt::format("not a JSON object ({}): \"{}\"{}", simdjson::error_message(error),
                           excerpt(text), advice_on(text));
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const Reader::Found& found = reader_->choose(i);
        texts_[i] = found.text;
        const char* const fault = found.fault;
        if (fault == nullptr || (fault == no_member && columns_[i].may_be_missing) ||
            (fault == null_member && columns_[i].may_be_null)) {
            continue;
        }
        return fmt::format("member '{}': {}", excerpt(columns_[i].name), fault);
    }
    return {};
}

const JsonRow::Reader::Found& JsonRow::Reader::choose(std::size_t column) const noexcept {
    const auto& slots = ways[column];
    for (const std::size_t slot : slots) {
        if (found[slot].fault != no_member) return found[slot];
    }
    return found[slots.front()];
}

error_code JsonRow::Reader::read_line(char* text, std::size_t bytes) {
    if (shapes.read(text, bytes, found)) return simdjson::SUCCESS;
    shapes.begin();
    const error_code error = read_with_care(text, bytes);
    if (error == simdjson::SUCCESS) shapes.keep(text, bytes, found);
    return error;
}

error_code JsonRow::Reader::read_with_care(char* text, std::size_t bytes) {
    line = text;
    for (Found& one : found) one = {.fault = no_member};
    ondemand::document document;
    const simdjson::padded_string_view padded(text, bytes, bytes + simdjson::SIMDJSON_PADDING);
    if (const auto error = parser.iterate(padded).get(document)) return error;
    ondemand::object object;
    if (const auto error = document.get_object().get(object)) return error;
    if (const auto error = read_members(object, &paths.root(), 1)) return error;
    const bool at_end = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
    return at_end ? simdjson::SUCCESS : simdjson::TRAILING_CONTENT;
}

error_code JsonRow::Reader::read_members(ondemand::object& object, const JsonPaths::Node* wanted,
                                         std::size_t depth) {
    if (depth > depth_max) return simdjson::DEPTH_ERROR;
    for (auto member : object) {
        ondemand::field field;
        if (const auto error = std::move(member).get(field)) return error;
        if (const auto error = read_member(field, wanted, depth)) return error;
    }
    return simdjson::SUCCESS;
}

error_code JsonRow::Reader::read_member(ondemand::field& field, const JsonPaths::Node* wanted,
                                        std::size_t depth) {
    const char* const begin = field.key().raw();
    const char* end = begin;
    while (*end != '"' && *end != '\\') ++end;  // a string that nothing closes was refused before
    std::string_view name(begin, static_cast<std::size_t>(end - begin));
    const JsonPaths::Entry* entry = nullptr;
    if (*end == '\\') [[unlikely]] {
        const char* close = end;
        while (*close != '"') close += *close == '\\' ? 2 : 1;
        if (!has_valid_escapes({begin, static_cast<std::size_t>(close - begin)}, name.size())) {
            return simdjson::STRING_ERROR;
        }
        // Half of a surrogate pair is valid, but is in no name that can be asked for.
        if (wanted != nullptr && field.unescaped_key().get(name) == simdjson::SUCCESS) {
            entry = JsonPaths::find(*wanted, name);
        }
    } else if (wanted != nullptr) {
        entry = JsonPaths::find(*wanted, name);
    }
    if (entry != nullptr) {
        for (const std::size_t slot : entry->below) found[slot] = {.fault = no_member};
    }
    return read_value(field.value(), entry, {'}', depth});
}

error_code JsonRow::Reader::read_value(ondemand::value& value, const JsonPaths::Entry* wanted,
                                       Place place) {
    const std::string_view token = value.raw_json_token();
    const char first = token.empty() ? '\0' : token.front();
    const bool is_wanted = wanted != nullptr && wanted->slot != JsonPaths::none;
    Found* const slot = is_wanted ? &found[wanted->slot] : nullptr;
    if (first == '{') {
        if (slot != nullptr) *slot = {.fault = "an object"};
        ondemand::object object;
        if (const auto error = value.get_object().get(object)) return error;
        const bool leads_on = wanted != nullptr && wanted->node != JsonPaths::none;
        return read_members(object, leads_on ? &paths.node(wanted->node) : nullptr,
                            place.depth + 1);
    }
    if (first == '[') {
        if (slot != nullptr) *slot = {.fault = "an array"};
        ondemand::array array;
        if (const auto error = value.get_array().get(array)) return error;
        return read_array(array, place.depth + 1);
    }
    // The text behind the scalar, which simdjson does not check when it skips one.
    const char behind = token.data()[token.size()];
    if (behind != ',' && behind != place.closing) return simdjson::TAPE_ERROR;
    return read_scalar(value, token, slot);
}

error_code JsonRow::Reader::read_array(ondemand::array& array, std::size_t depth) {
    if (depth > depth_max) return simdjson::DEPTH_ERROR;
    for (auto element : array) {
        ondemand::value value;
        if (const auto error = std::move(element).get(value)) return error;
        if (const auto error = read_value(value, nullptr, {']', depth})) return error;
    }
    return simdjson::SUCCESS;
}

// A scalar is not consumed: the iteration goes on behind it.
error_code JsonRow::Reader::read_scalar(ondemand::value& value, std::string_view token,
                                        Found* wanted) {
    while (!token.empty() && is_space(token.back())) token.remove_suffix(1);
    if (token.empty()) return simdjson::TAPE_ERROR;
    const std::size_t number = shapes.add_scalar(token);
    switch (token.front()) {
        case '"':
            if (const auto error = read_string(value, token, wanted)) return error;
            if (wanted != nullptr) wanted->scalar = number;
            return simdjson::SUCCESS;
        case 'n':
            if (token != "null") return simdjson::N_ATOM_ERROR;
            if (wanted != nullptr) *wanted = {{}, null_member, number};
            return simdjson::SUCCESS;
        case 't':
            if (token != "true") return simdjson::T_ATOM_ERROR;
            break;
        case 'f':
            if (token != "false") return simdjson::F_ATOM_ERROR;
            break;
        default:
            if (token.front() != '-' && !is_digit(token.front())) return simdjson::TAPE_ERROR;
            if (!is_json_number(token.data(), token.data() + token.size())) {
                return simdjson::NUMBER_ERROR;
            }
    }
    if (wanted != nullptr) *wanted = {token, nullptr, number};
    return simdjson::SUCCESS;
}

error_code JsonRow::Reader::read_string(ondemand::value& value, std::string_view token,
                                        Found* wanted) {
    if (token.size() < 2 || token.back() != '"') return simdjson::STRING_ERROR;
    const std::string_view text = token.substr(1, token.size() - 2);
    const std::size_t backslash = text.find('\\');
    if (backslash == std::string_view::npos) {
        if (wanted != nullptr) *wanted = {.text = text};
        return simdjson::SUCCESS;
    }
    if (!has_valid_escapes(text, backslash)) return simdjson::STRING_ERROR;
    if (wanted == nullptr) return simdjson::SUCCESS;
    std::string_view meant;  // in the parser's memory, and never longer than what it was read from
    if (value.get_string().get(meant) != simdjson::SUCCESS) {
        *wanted = {.fault = "half of a surrogate pair, which is no character"};
        return simdjson::SUCCESS;
    }
    char* const place = line + (text.data() - line);
    std::memcpy(place, meant.data(), meant.size());
    *wanted = {.text = {place, meant.size()}};
    return simdjson::SUCCESS;
}

}  // namespace strid
