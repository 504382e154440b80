// SPDX-License-Identifier: Apache-2.0
//
// Lines of JSON that are read by the shape of those before them have the members, or the fault,
// that a reader has that has seen no line before.
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/engine/connector/json_row.hpp>
#include <strid/engine/connector/line_reader.hpp>

namespace strid {
namespace {

std::vector<JsonColumn> columns() {
    return {{"time", false, false}, {"a", true, true}, {"b.c", true, true}, {"d", false, true}};
}

/// The fault that a reader finds, or the texts of the columns. Which fault of several simdjson
/// names depends on the text behind the line.
std::string answer_of(JsonRow& row, const std::string& line, std::string_view behind) {
    std::vector<char> buffer(line.size() + behind.size() + LineReader::slack_bytes, '\0');
    std::memcpy(buffer.data(), line.data(), line.size());
    std::memcpy(buffer.data() + line.size(), behind.data(), behind.size());
    std::string answer = row.read(buffer.data(), line.size());
    const std::string invalid = "not a JSON object";
    if (answer.starts_with(invalid)) return invalid;
    if (!answer.empty()) return answer;
    for (std::size_t i = 0; i != columns().size(); ++i) answer.append(row.text(i)) += '|';
    return answer;
}
std::string answer_anew(const std::string& line) {
    JsonRow fresh{columns()};
    return answer_of(fresh, line, "\n");
}

std::string any_scalar() {
    static const std::vector<std::string> scalars = {
        "0", "17", "-4.25", "1e9", "2.5E-3", "true", "false", "null", "\"\"", "\"plain\"",
        "\"a longer text, of 30 bytes..\"", "\"q\\\"u\"", "\"\\u00e9\"", "\"\xC3\xA9\"", "\"\x7f\"",
        "\"{}\"", "\"\\ud800\"",
        // Not valid.
        "01", "1.", "-", "1e", ".5", "nul", "True", "\"\t\"", "\"\xC3\"", "\"\\x\"", "\"open", ""};
    // Most lines are valid.
    constexpr std::size_t valid = 17;
    const bool is_valid = *rc::gen::inRange(0, 20) != 0;
    return scalars[*rc::gen::inRange<std::size_t>(is_valid ? 0 : valid,
                                                  is_valid ? valid : scalars.size())];
}
std::string any_value() {
    switch (*rc::gen::inRange(0, 8)) {
        case 0:
            return "{\"c\": " + any_scalar() + "}";
        case 1:
            return "[" + any_scalar() + "," + any_scalar() + "]";
        default:
            return any_scalar();
    }
}

/// Lines of a few programs, each of which writes its members in one order and with one spacing.
std::string any_line() {
    static const std::vector<std::vector<std::string>> members = {
        {"time", "a", "d"}, {"time", "a", "b", "d"}, {"a", "time"},
        {"time", "a", "a"}, {"b", "time", "b.c"},    {"time", "\\u0061", "x"}};
    const auto& names = members[*rc::gen::inRange<std::size_t>(0, members.size())];
    const bool has_spaces = *rc::gen::inRange(0, 4) != 0;
    std::string line = "{";
    for (const std::string& name : names) {
        if (line.size() != 1) line += has_spaces ? ", " : ",";
        line += '"' + name + (has_spaces ? "\": " : "\":") + any_value();
    }
    line += *rc::gen::weightedElement<std::string>(
        {{20, "}"}, {1, "} "}, {1, "}}"}, {1, "} 1"}, {1, ",}"}, {1, ""}});
    if (*rc::gen::inRange(0, 8) == 0) {
        const auto at = *rc::gen::inRange<std::size_t>(0, line.size());
        line[at] =
            *rc::gen::element('"', ',', ':', '{', '}', ' ', '0', 'a', '\\', '[', ']', '\x1f');
    }
    return line;
}

RC_GTEST_PROP(JsonShapes, ChangeNoAnswer, ()) {
    JsonRow row{columns()};
    for (int i = 0; i != 40; ++i) {
        const std::string line = any_line();
        const std::string behind = *rc::gen::element<std::string>("\n", "}\n", "\"}", "5\n", "");
        RC_ASSERT(answer_of(row, line, behind) == answer_anew(line));
    }
}

TEST(JsonShapes, OneShapeHoldsForOtherScalars) {
    JsonRow row{columns()};
    const auto read = [&row](const std::string& line) { return answer_of(row, line, "\n"); };
    EXPECT_EQ(read(R"({"time": 1, "a": "x", "b": {"c": 2}})"), "1|x|2||");
    EXPECT_EQ(read(R"({"time": -2.5e3, "a": null, "b": {"c": "a text of some words"}})"),
              "-2.5e3||a text of some words||");
    EXPECT_EQ(read(R"({"time": null, "a": "y", "b": {"c": 2}})"), "member 'time': null");
    EXPECT_EQ(read(R"({"time": 3, "a": [1], "b": {"c": 2}})"), "member 'a': an array");
    EXPECT_EQ(read(R"({"time": 4, "a": "x\"", "b": {"c": true}})"), "4|x\"|true||");
    EXPECT_EQ(read(R"({"time": 05, "a": "x", "b": {"c": 2}})"), "not a JSON object");
}

}  // namespace
}  // namespace strid
