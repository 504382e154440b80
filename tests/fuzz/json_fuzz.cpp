// SPDX-License-Identifier: Apache-2.0
//
// One line of JSON as `strid window` reads it. Invariant: simdjson's whole parser, which checks
// every byte, accepts each accepted line as an object. That parser rejects numbers beyond 64 bits
// or the doubles, and half of a surrogate pair, all of which are valid JSON: its input has few
// digits for each number, and a letter for a surrogate.
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <simdjson.h>

#include <strid/engine/connector/json_row.hpp>
#include <strid/engine/connector/line_reader.hpp>

#include "table_input.hpp"

namespace {

bool is_surrogate(std::string_view escape) {
    return escape.size() >= 6 && escape[1] == 'u' && (escape[2] | 0x20) == 'd' &&
           std::string_view("89abcdefABCDEF").find(escape[3]) != std::string_view::npos &&
           std::isxdigit(static_cast<unsigned char>(escape[4])) != 0 &&
           std::isxdigit(static_cast<unsigned char>(escape[5])) != 0;
}

/// The same with two digits at most in a row outside of texts, and a letter in the place of each
/// half of a surrogate pair: valid where the text is valid.
std::string for_the_other(std::string_view json) {
    std::string shown;
    bool is_in_text = false;
    std::size_t digits = 0;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        digits = !is_in_text && std::isdigit(static_cast<unsigned char>(c)) != 0 ? digits + 1 : 0;
        if (digits > 2) continue;
        shown += c;
        if (c == '"') is_in_text = !is_in_text;
        if (!is_in_text || c != '\\' || i + 1 == json.size()) continue;
        if (is_surrogate(json.substr(i))) {
            shown += "u0061";
            i += 5;
        } else {
            shown += json[++i];
        }
    }
    return shown;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (text.find('\n') != std::string_view::npos) return 0;  // ends a line
    static strid::JsonRow row(
        {{"t", false, false}, {"k", true, false}, {"a.b", true, true}, {"v", true, true}});
    std::string line(text);
    line.append(strid::LineReader::slack_bytes, '\n');
    if (!row.read(line.data(), size).empty()) return 0;
    static simdjson::dom::parser parser;
    simdjson::dom::object object;
    strid::fuzz::require(parser.parse(for_the_other(text)).get(object) == simdjson::SUCCESS);
    std::size_t bytes = 0;
    for (std::size_t column = 0; column < 4; ++column) {
        for (const char c : row.text(column)) bytes += static_cast<unsigned char>(c) != 0 ? 1U : 0U;
    }
    strid::fuzz::require(bytes <= size);
    return 0;
}
