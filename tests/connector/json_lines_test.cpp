// SPDX-License-Identifier: Apache-2.0
//
// Oracles: the values that the texts were written from.
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <gmock/gmock.h>

#include <strid/base/error.hpp>
#include <strid/connector/json_lines.hpp>

#include "drive.hpp"

namespace strid {
namespace {

using test::drain;
using test::Folder;
using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

struct Reading {
    std::string_view sensor;
    std::int64_t at;
    double value;
    std::optional<int> grade;
    friend bool operator==(const Reading&, const Reading&) = default;
};

JsonOptions members_of_reading() {
    return {.members = {"sensor.id", "at", "value", "grade"}};
}

TEST(JsonLines, FillsFieldsByTheNamesOfMembers) {
    const Folder folder;
    const auto path = folder.write(
        "a.jsonl",
        "\xEF\xBB\xBF{\"at\":5,\"sensor\":{\"id\":\"a\\n\\u00e9\",\"x\":[]},\"value\":1.5,"
        "\"grade\":7}\n"
        "\r\n"
        "{\"sensor.id\":\"b\",\"value\":\"-2e3\",\"at\":\"9223372036854775807\",\"grade\":null}\n"
        "{\"sensor\":{\"id\":\"\"},\"value\":0,\"at\":-1}");
    const auto got = drain(json_lines<Reading>(path, members_of_reading()));
    EXPECT_THAT(got.records, ElementsAre(Reading{"a\n\xC3\xA9", 5, 1.5, 7},
                                         Reading{"b", 9223372036854775807, -2000, std::nullopt},
                                         Reading{"", -1, 0, std::nullopt}));
}

TEST(JsonLines, ReadsArraysAndObjectsOverLinesInTinyChunks) {
    const Folder folder;
    std::string array = "[";
    std::string pretty;
    std::string records;
    for (int i = 0; i < 300; ++i) {
        const auto number = std::to_string(i);
        array += (i > 0 ? ", " : "") + std::string("{\"at\": ") + number + ", \"k\": \"}\\\"{\"}";
        pretty += "{\n  \"k\": [{}, \"[\"],\n  \"at\": " + number + "\n}\n";
        records += "\x1e{\"at\":" + number + "}\n";
    }
    for (const std::string& text : {array + "]", pretty, records}) {
        for (const std::size_t chunk_bytes : {16U, 100U, 1U << 16}) {
            JsonOptions options{.members = {"at"}};
            options.text.chunk_bytes = chunk_bytes;
            const auto got = drain(json_lines<int>(folder.write("a", text), options), {}, 7);
            ASSERT_EQ(got.records.size(), 300U);
            for (int i = 0; i < 300; ++i) EXPECT_EQ(got.records[static_cast<std::size_t>(i)], i);
        }
    }
}

TEST(JsonLines, RefusesWhatDoesNotFitAndNamesIt) {
    const Folder folder;
    const std::string good = "{\"sensor.id\":\"a\",\"at\":1,\"value\":1}\n";
    const std::vector<std::pair<std::string, std::string>> faults = {
        {"{\"sensor.id\":\"a\",\"value\":1}", "member 'at': missing"},
        {"{\"sensor.id\":null,\"at\":1,\"value\":1}", "member 'sensor.id': null"},
        {"{\"sensor\":5,\"at\":1,\"value\":1}", "member 'sensor.id': missing"},
        {"{\"sensor.id\":\"a\",\"at\":1.5,\"value\":1}", "member 'at': not an integer: \"1.5\""},
        {"{\"sensor.id\":\"a\",\"at\":1,\"value\":[]}", "member 'value': an array"},
        {"{\"sensor.id\":\"a\",\"at\":1,\"value\":1,\"x\":tru}", "not a JSON object"},
        {"{\"sensor.id\":\"a\",\"at\":1,", "jq -c ."},
    };
    for (const auto& [line, reason] : faults) {
        const auto path = folder.write("a", good + line + "\n" + good);
        EXPECT_THAT(message_of<InputOutputError>(
                        [&] { drain(json_lines<Reading>(path, members_of_reading())); }),
                    testing::AllOf(HasSubstr(path + ":2: "), HasSubstr(reason)));
        std::vector<std::tuple<std::uint64_t, std::string>> refused;
        JsonOptions options = members_of_reading();
        options.on_malformed = OnMalformed::dead_letter;
        options.dead_letter = [&refused](const MalformedLine& one) {
            refused.emplace_back(one.line, std::string(one.text));
        };
        const auto got = drain(json_lines<Reading>(path, options));
        EXPECT_EQ(got.records.size(), 2U);
        EXPECT_EQ(got.malformed, 1U);
        EXPECT_THAT(refused, ElementsAre(std::tuple(2U, line)));
    }
}

TEST(JsonLines, CountsWhatTheInputEndsIn) {
    const Folder folder;
    for (const std::string rest : {"", ",{\"at\":2,\"x\":[", ",{\"at\":2,\"x\":\"}"}) {
        const auto path = folder.write("a", "[{\"at\":1}" + rest);
        JsonOptions options{.members = {"at"}};
        EXPECT_THAT(message_of<InputOutputError>([&] { drain(json_lines<int>(path, options)); }),
                    HasSubstr("is not closed: the input ends in it"));
        options.on_malformed = OnMalformed::skip;
        const auto got = drain(json_lines<int>(path, options));
        EXPECT_THAT(got.records, ElementsAre(1));
        EXPECT_EQ(got.malformed, 1U);
    }
}

TEST(JsonLines, TooLongObjectsAreRefusedInEitherShape) {
    const Folder folder;
    const std::string filler(5000, 'x');
    const std::string large = "{\"at\":2,\"x\":\"" + filler + "\"}";
    for (const auto& text :
         {"{\"at\":1}\n" + large + "\n{\"at\":3}\n", "[{\"at\":1},\n" + large + ",\n{\"at\":3}]"}) {
        JsonOptions options{.members = {"at"}, .on_malformed = OnMalformed::skip};
        options.text.line_bytes_max = 300;
        options.text.chunk_bytes = 64;
        const auto got = drain(json_lines<int>(folder.write("a", text), options));
        EXPECT_EQ(got.records.front(), 1);
        EXPECT_EQ(got.records.back(), 3);
        EXPECT_EQ(got.records.size(), 2U);
        EXPECT_GE(got.malformed, 1U);
    }
}

TEST(JsonLines, OptionsThatDoNotFitAreErrors) {
    const auto fault_of = [](const std::string& member, std::size_t count) {
        return message_of<GraphError>(
            [&] { JsonLines<int>("a", {.members = std::vector<std::string>(count, member)}); });
    };
    EXPECT_THAT(fault_of("at", 3), HasSubstr("3 members for a record of 1 fields"));
    EXPECT_THAT(fault_of("a.b.c.d.e.f.g.h.i.j.k.l", 1), HasSubstr("more than 10 dots"));
}

}  // namespace
}  // namespace strid
