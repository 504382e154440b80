// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <strid/engine/base/json_text.hpp>
#include <strid/engine/connector/csv_row.hpp>
#include <strid/engine/connector/message_fields.hpp>

namespace strid::detail {

namespace {

constexpr std::string_view header_prefix = "header.";
constexpr std::string_view spaces = " \t\r\n";

/// Up to the next newline, which is taken away, too.
std::string_view cut_line(std::string_view& rest) noexcept {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
}

}  // namespace

MessageFields::MessageFields(TransportAddress& address,
                             std::initializer_list<std::string_view> known, bool has_headers)
    : names_(address.take_list("with")) {
    for (const std::string& name : names_) {
        const bool is_header = has_headers && name.starts_with(header_prefix);
        if (!is_header && std::find(known.begin(), known.end(), name) == known.end()) {
            address.refuse(fmt::format("with: there is no '{}': there are {}{}", name,
                                       fmt::join(known, ", "),
                                       has_headers ? ", and header.NAME" : ""));
        }
        const std::string_view shown =
            std::string_view(name).substr(is_header ? header_prefix.size() : 0);
        members_.push_back(json_text(fmt::format("@{}", shown)) + ':');
        if (std::count(members_.begin(), members_.end(), members_.back()) > 1) {
            address.refuse(fmt::format("with: '@{}' is there twice", shown));
        }
    }
}

void MessageFields::append(std::string& out, std::string_view message,
                           std::span<const Value> values) {
    if (names_.empty()) {
        out += message;
        return;
    }
    const std::size_t first = message.find_first_not_of(spaces);
    const bool is_object = first != std::string_view::npos && message[first] == '{';
    is_object ? append_objects(out, message, values) : append_rows(out, message, values);
}

void MessageFields::append_objects(std::string& out, std::string_view message,
                                   std::span<const Value> values) {
    added_.clear();
    for (std::size_t i = 0; i != values.size(); ++i) {
        if (i != 0) added_ += ',';
        added_ += members_[i];
        const auto& [text, is_number] = values[i];
        added_ += !text ? "null" : is_number ? std::string(*text) : json_text(*text);
    }
    for (bool is_first = true; is_first || !message.empty(); is_first = false) {
        const std::string_view line = cut_line(message);
        if (!is_first) out += '\n';
        const std::size_t open = line.find_first_not_of(spaces);
        if (open == std::string_view::npos || line[open] != '{') {
            out += line;
            continue;
        }
        // Behind its own: of two members of a name the last counts.
        const std::size_t close = std::max(line.rfind('}'), open);
        const bool is_whole = close != std::string_view::npos && close != open;
        const std::string_view own = line.substr(0, is_whole ? close : line.size());
        const bool is_empty = own.find_first_not_of(spaces, open + 1) == std::string_view::npos;
        ((out += own) += is_empty ? "" : ",") += added_;
        out += is_whole ? line.substr(close) : "";
    }
}

void MessageFields::append_rows(std::string& out, std::string_view message,
                                std::span<const Value> values) {
    added_.clear();
    for (const Value& value : values) {
        added_ += ',';
        if (value.text) append_csv_field(added_, *value.text, ',');
    }
    bool is_quoted = false;  // the row goes on behind the newline
    for (bool is_first = true; is_first || !message.empty(); is_first = false) {
        if (!is_first) out += '\n';
        std::string_view line = cut_line(message);
        if (std::count(line.begin(), line.end(), '"') % 2 != 0) is_quoted = !is_quoted;
        if (!is_quoted && line.ends_with('\r')) line.remove_suffix(1);
        out += line;
        if (!is_quoted && !line.empty()) out += added_;
    }
}

}  // namespace strid::detail
