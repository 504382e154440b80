// SPDX-License-Identifier: Apache-2.0
//
// Expectations by hand; for quoting and chunk boundaries, Python's csv module.
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include <gmock/gmock.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_file.hpp>

#include "drive.hpp"

namespace strid {

enum class Colour : std::uint8_t { red, green };
enum class Level : std::int16_t { low = -1, high = 7 };

bool from_csv(std::string_view text, Colour& colour) {
    colour = text == "red" ? Colour::red : Colour::green;
    return text == "red" || text == "green";
}
void to_csv(std::string& out, const Colour& colour) {
    out += colour == Colour::red ? "red" : "green";
}

namespace {

using test::drain;
using test::Folder;
using test::message_of;
using test::shell;
using testing::ElementsAre;
using testing::HasSubstr;

struct Reading {
    std::uint64_t device;
    double value;
    bool operator==(const Reading&) const = default;
};

struct Mixed {
    std::string_view name;
    std::int32_t count;
    std::array<char, 4> code;
    std::optional<float> weight;
    bool flag;
    char letter;
    Colour colour;
    Level level;
    std::string owned;
};

template <class T>
std::vector<T> parse(std::string_view content, CsvOptions options = {}) {
    const Folder folder;
    return drain(csv_file<T>(folder.write("a.csv", content), std::move(options))).records;
}

/// The reason alone: what follows "PATH:".
template <class T>
std::string fault(std::string_view content, CsvOptions options = {}) {
    const Folder folder;
    const auto path = folder.write("a.csv", content);
    auto message =
        message_of<InputOutputError>([&] { drain(csv_file<T>(path, std::move(options))); });
    EXPECT_TRUE(message.starts_with(path + ":")) << message;
    return message.substr(path.size() + 1);
}

TEST(CsvFile, NumbersIntoAStruct) {
    EXPECT_THAT(parse<Reading>("1,2.5\n18446744073709551615,-1e-3\r\n007,+.5"),
                ElementsAre(Reading{1, 2.5}, Reading{UINT64_MAX, -0.001}, Reading{7, 0.5}));
    EXPECT_THAT(parse<Reading>(""), ElementsAre());
    EXPECT_THAT(parse<Reading>("\n\r\n 1 ,\t2 \n\n"), ElementsAre(Reading{1, 2}));
    EXPECT_THAT(parse<Reading>("\xEF\xBB\xBF"
                               "3,4\n"),
                ElementsAre(Reading{3, 4}));
    EXPECT_THAT(parse<Reading>("\"5\",\"6\"\n"), ElementsAre(Reading{5, 6}));
}

TEST(CsvFile, EveryKindOfField) {
    const Folder folder;
    const auto path = folder.write(
        "a",
        "Ann,-5,ab,1.5,true,x,red,-1,one\n\"B, \"\"C\"\"\",+6,abcd,,0,\",\",green,7,\"t\no\"\n");
    const auto emit = drain(csv_file<Mixed>(path));
    ASSERT_EQ(emit.records.size(), 2U);
    const Mixed& first = emit.records[0];
    EXPECT_EQ(first.name, "Ann");
    EXPECT_EQ(first.count, -5);
    EXPECT_EQ(first.code, (std::array<char, 4>{'a', 'b', '\0', '\0'}));
    EXPECT_EQ(first.weight, 1.5F);
    EXPECT_TRUE(first.flag);
    EXPECT_EQ(first.letter, 'x');
    EXPECT_EQ(first.colour, Colour::red);
    EXPECT_EQ(first.level, Level::low);
    EXPECT_EQ(first.owned, "one");
    const Mixed& second = emit.records[1];
    EXPECT_EQ(second.name, "B, \"C\"");
    EXPECT_EQ(second.count, 6);
    EXPECT_EQ(second.code, (std::array<char, 4>{'a', 'b', 'c', 'd'}));
    EXPECT_EQ(second.weight, std::nullopt);
    EXPECT_FALSE(second.flag);
    EXPECT_EQ(second.letter, ',');
    EXPECT_EQ(second.level, Level::high);
    EXPECT_EQ(second.owned, "t\no");
}

TEST(CsvFile, SingleValuesPairsAndTuples) {
    EXPECT_THAT(parse<int>("1\n-2\n"), ElementsAre(1, -2));
    EXPECT_THAT((parse<std::pair<int, double>>("1,2\n")), ElementsAre(std::pair(1, 2.0)));
    EXPECT_THAT((parse<std::tuple<int, bool, int>>("1;true;3\n", {.delimiter = ';'})),
                ElementsAre(std::tuple(1, true, 3)));
}

TEST(CsvFile, IntegersUpToTheirLimits) {
    using Pair = std::pair<std::int8_t, std::int64_t>;
    EXPECT_THAT(parse<Pair>("-128,-9223372036854775808\n127,9223372036854775807\n"),
                ElementsAre(Pair{-128, INT64_MIN}, Pair{127, INT64_MAX}));
    EXPECT_EQ(fault<Pair>("0,0\n128,0\n"), "2: field 1: out of range: \"128\"");
    EXPECT_EQ(fault<Pair>("0,0\n-129,0\n"), "2: field 1: out of range: \"-129\"");
    EXPECT_EQ(fault<Pair>("0,0\n0,9223372036854775808\n"),
              "2: field 2: out of range: \"9223372036854775808\"");
    EXPECT_EQ(fault<Reading>("0,0\n18446744073709551616,0\n"),
              "2: field 1: out of range: \"18446744073709551616\"");
    EXPECT_EQ(fault<Reading>("0,0\n-1,0\n"), "2: field 1: not an integer: \"-1\"");
    EXPECT_EQ(fault<Reading>("0,0\n1.5,0\n"), "2: field 1: not an integer: \"1.5\"");
    EXPECT_EQ(fault<Reading>("0,0\n,0\n"), "2: field 1: not an integer: \"\"");
}

TEST(CsvFile, NotANumberAndOverflow) {
    EXPECT_EQ(fault<Reading>("1,1\n1,1e999\n"), "2: field 2: out of range: \"1e999\"");
    EXPECT_EQ(fault<Reading>("1,1\n1,-1e999\n"), "2: field 2: out of range: \"-1e999\"");
    EXPECT_EQ(fault<Reading>("1,1\n1,nan\n"),
              "2: field 2: not a finite number: \"nan\" (no value? then .null_words = {\"nan\"})");
    EXPECT_EQ(fault<Reading>("1,1\n1,-Infinity\n"),
              "2: field 2: not a finite number: \"-Infinity\"");
    EXPECT_EQ(fault<Reading>("1,1\n1,\n"), "2: field 2: not a number: \"\"");
    EXPECT_EQ(fault<Reading>("1,1\n1,1.5x\n"), "2: field 2: not a number: \"1.5x\"");
    EXPECT_EQ(fault<Reading>("1,1\n1,1e999\n", {.non_finite = NonFinite::accept}),
              "2: field 2: out of range: \"1e999\"");
    const auto accepted =
        parse<double>("nan\ninf\n-inf\n1e-999\n", {.non_finite = NonFinite::accept});
    ASSERT_EQ(accepted.size(), 4U);
    EXPECT_TRUE(std::isnan(accepted[0]));
    EXPECT_EQ(accepted[1], std::numeric_limits<double>::infinity());
    EXPECT_EQ(accepted[2], -std::numeric_limits<double>::infinity());
    EXPECT_EQ(accepted[3], 0);
}

TEST(CsvFile, HeadersAndColumns) {
    const std::string content = "when,\"value\",device,other\n9,2.5,1,x\n9,3.5,2,\n";
    EXPECT_THAT(parse<Reading>(content, {.columns = {"device", "value"}}),
                ElementsAre(Reading{1, 2.5}, Reading{2, 3.5}));
    EXPECT_THAT(parse<Reading>(content, {.header = CsvHeader::skip, .columns = {3, 2}}),
                ElementsAre(Reading{1, 2.5}, Reading{2, 3.5}));
    EXPECT_THAT(parse<Reading>("device,value\n1,2\n", {.header = CsvHeader::skip}),
                ElementsAre(Reading{1, 2}));
    EXPECT_EQ(fault<Reading>(content, {.columns = {"device", "speed"}}),
              "1: no column 'speed' in the header: when,\"value\",device,other");
    EXPECT_EQ(fault<Reading>("device,value\n1,abc\n", {.header = CsvHeader::skip}),
              "2: field 2 'value': not a number: \"abc\"");
    EXPECT_EQ(fault<Reading>("device,value\n1,2\n"),
              "1: field 1: not an integer: \"device\" (line 1 looks like a header, and none is "
              "expected: leave it out as tail -n +2 does, or set .header)");
    EXPECT_EQ(fault<Reading>("a,b,c\n1\n", {.columns = {"a", "b"}}),
              "2: expected 3 fields, found 1");
    EXPECT_THROW(parse<Reading>("", {.columns = {"a"}}), GraphError);
    EXPECT_THROW(parse<Reading>("", {.columns = {0, 1}}), GraphError);
    EXPECT_THROW(parse<Reading>("", {.delimiter = '.'}), GraphError);
}

TEST(CsvFile, RowsOfTheWrongShape) {
    EXPECT_EQ(fault<Reading>("1,2\n1,2,3\n"), "2: expected 2 fields, found 3");
    EXPECT_EQ(fault<Reading>("1,2\n1\n"), "2: expected 2 fields, found 1");
    EXPECT_EQ(fault<int>("1\n1,2\n"), "2: expected 1 field, found 2");
    EXPECT_EQ(fault<Reading>("1,2\n\"1\"x,2\n"), "2: text after a closing quote");
    EXPECT_EQ(fault<Reading>("1,2\n\"1,2\n3,4\n"), "2: a quoted field is never closed");
    using Text = std::pair<std::array<char, 2>, bool>;
    EXPECT_EQ(fault<Text>("\nabc,1\n"), "2: field 1: text too long: \"abc\"");
    EXPECT_EQ(fault<Text>("\nab,2\n"), "2: field 2: not a boolean: \"2\"");
    EXPECT_EQ(fault<Colour>("\nblue\n"), "2: field 1: not a valid value: \"blue\"");
}

TEST(CsvFile, BinaryFilesAreRefusedWithAPrintableReason) {
    const std::string bytes(
        "\x7f"
        "ELF\x02\x01\x00\x00\n\x01\n",
        11);
    EXPECT_EQ(fault<Reading>(bytes), "1: expected 2 fields, found 1");
    EXPECT_EQ(fault<int>(bytes), "1: field 1: not an integer: \"\\x7fELF\\x02\\x01\\x00\\x00\"");
    EXPECT_EQ(fault<int>("5\n" + std::string(300, 'x') + "\n"),
              "2: field 1: not an integer: \"" + std::string(40, 'x') + "...\"");
}

TEST(CsvFile, SkippedRowsAreCounted) {
    const Folder folder;
    const auto path = folder.write("a", "1,1\nx,1\n2,2\n\"3\"4,1\n3,3\n4,\"4\n5,5\n");
    const auto emit = drain(csv_file<Reading>(path, {.on_malformed = OnMalformed::skip}));
    EXPECT_THAT(emit.records,
                ElementsAre(Reading{1, 1}, Reading{2, 2}, Reading{3, 3}, Reading{5, 5}));
    EXPECT_EQ(emit.malformed, 3U);
}

TEST(CsvFile, RefusedRowsGoToTheCallbackAsTheyStood) {
    const Folder folder;
    const auto path = folder.write("a", "1,1\n\"a\nb\",\"x\"\"y\"\r\n2,2\n3\n");
    std::vector<std::string> seen;
    const CsvOptions options{
        .on_malformed = OnMalformed::dead_letter, .dead_letter = [&](const MalformedLine& line) {
            EXPECT_EQ(line.file, path);
            seen.push_back(std::to_string(line.line) + "|" + std::string(line.reason) + "|" +
                           std::string(line.text));
        }};
    using Row = std::pair<std::string_view, double>;
    const auto emit = drain(csv_file<Row>(path, options));
    EXPECT_THAT(emit.records, ElementsAre(Row{"1", 1}, Row{"2", 2}));
    EXPECT_THAT(seen, ElementsAre("2|field 2: not a number: \"x\"y\"|\"a\nb\",\"x\"\"y\"",
                                  "5|expected 2 fields, found 1|3"));
}

TEST(CsvFile, RefusedRowsGoToAFile) {
    const Folder folder;
    const auto path = folder.write("a.csv", "1,1\nx,\"1\"\n2,2\n");
    const auto dead = folder.file("dead.csv");
    const auto emit = drain(csv_file<Reading>(
        path, {.on_malformed = OnMalformed::dead_letter, .dead_letter_path = dead}));
    EXPECT_EQ(emit.records.size(), 2U);
    EXPECT_EQ(folder.read("dead.csv"),
              path + ",2,\"field 1: not an integer: \"\"x\"\"\",\"x,\"\"1\"\"\"\n");
    EXPECT_THAT(message_of<InputOutputError>([&] {
                    drain(csv_file<Reading>(path, {.on_malformed = OnMalformed::dead_letter,
                                                   .dead_letter_path = folder.file("no/a")}));
                }),
                HasSubstr("no/a: cannot open for writing: No such file or directory"));
}

TEST(CsvFile, RowsBeyondTheLimitAreRefused) {
    for (const std::size_t chunk_bytes : {1U, 8U, 100'000U}) {
        const TextOptions text{.chunk_bytes = chunk_bytes, .line_bytes_max = 10};
        const std::string content = "1,2\n" + std::string(50, '1') + ",1\n3,4\n\"5\n" +
                                    std::string(50, ' ') + "\",6\n7,8\n";
        const Folder folder;
        const auto emit = drain(csv_file<Reading>(
            folder.write("a", content), {.on_malformed = OnMalformed::skip, .text = text}));
        EXPECT_EQ(emit.records.size(), 3U) << chunk_bytes;
        EXPECT_GE(emit.malformed, 2U) << chunk_bytes;
        EXPECT_EQ(emit.records.back(), (Reading{7, 8}));
    }
}

// A record's text must survive what the parser does with later rows and chunks.
TEST(CsvFile, AgainstPythonAtAnyChunkSize) {
    const Folder folder;
    std::mt19937_64 random(5);
    const std::array<std::string, 8> pieces{"a", "\"", ",", "\n", "\r\n", "bc d", "", "\"\""};
    std::string content;
    for (int row = 0; row < 400; ++row) {
        for (int field = 0; field < 3; ++field) {
            if (field > 0) content += ',';
            std::string text;
            for (auto n = random() % 5; n > 0; --n) text += pieces[random() % pieces.size()];
            if (text.find_first_of("\",\r\n") == std::string::npos && random() % 2 == 0) {
                content += text;
                continue;
            }
            content += '"';
            for (const char c : text) content += c == '"' ? std::string("\"\"") : std::string(1, c);
            content += '"';
        }
        content += random() % 2 == 0 ? "\n" : "\r\n";
    }
    const auto path = folder.write("a.csv", content);
    const auto script =
        folder.write("oracle.py",
                     "import csv, sys\n"
                     "for row in csv.reader(open(sys.argv[1], newline='')):\n"
                     "    print(len(row), *(f.encode().hex() for f in row), sep='|')\n");
    ASSERT_TRUE(shell("python3 " + script + " " + path + " > " + folder.file("expected")));
    for (const std::size_t chunk_bytes : {1U, 3U, 16U, 100U, 1'000'000U}) {
        using Row = std::tuple<std::string_view, std::string_view, std::string_view>;
        const auto emit = drain(csv_file<Row>(path, {.text = {.chunk_bytes = chunk_bytes}}), {}, 7);
        std::string got;
        for (const auto& [a, b, c] : emit.records) {
            got += "3";
            for (const auto& text : {a, b, c}) {
                got += '|';
                for (const char byte : text) {
                    constexpr const char* digits = "0123456789abcdef";
                    got += digits[static_cast<unsigned char>(byte) >> 4];
                    got += digits[static_cast<unsigned char>(byte) & 15];
                }
            }
            got += '\n';
        }
        ASSERT_EQ(got, folder.read("expected")) << chunk_bytes;
    }
}

}  // namespace
}  // namespace strid
