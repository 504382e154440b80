// SPDX-License-Identifier: Apache-2.0
//
// The rows of csv_writer are read back bit for bit by csv_file, and by Python's csv module.
#include <bit>
#include <cmath>
#include <optional>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <strid/connector/csv_file.hpp>
#include <strid/connector/csv_writer.hpp>

#include "../support/opened.hpp"
#include "drive.hpp"

namespace strid {
namespace {

using test::drain;
using test::Folder;
using test::shell;

struct Row {
    std::string text;
    std::int64_t number;
    double value;
    std::optional<float> weight;
    bool flag;
    std::uint8_t small;
    char letter;
    bool operator==(const Row&) const = default;
};

double finite_double() {
    const auto value = std::bit_cast<double>(*rc::gen::arbitrary<std::uint64_t>());
    return std::isfinite(value) ? value : 0;
}

std::string any_text() {
    return *rc::gen::container<std::string>(rc::gen::oneOf(
        rc::gen::element('a', ',', ';', '"', '\n', '\r', ' '), rc::gen::inRange<char>(1, 127)));
}

Row any_row() {
    Row row{};
    row.text = any_text();
    row.number = *rc::gen::arbitrary<std::int64_t>();
    row.value = finite_double();
    if (*rc::gen::arbitrary<bool>()) row.weight = static_cast<float>(row.number);
    row.flag = *rc::gen::arbitrary<bool>();
    row.small = *rc::gen::arbitrary<std::uint8_t>();
    row.letter = *rc::gen::inRange<char>(1, 127);
    return row;
}

TEST(CsvRoundTrip, WriterThenReaderIsTheIdentity) {
    const Folder folder;
    const auto path = folder.file("a.csv");
    EXPECT_TRUE(rc::check([&] {
        std::vector<Row> rows(*rc::gen::inRange<std::size_t>(0, 30));
        for (Row& row : rows) row = any_row();
        const char delimiter = *rc::gen::element(',', ';', '\t', '|');
        const bool named = *rc::gen::arbitrary<bool>();
        CsvWriterOptions options{.delimiter = delimiter};
        if (named) options.header = {"text", "a\"b", "c", "d", "e", "f", "g"};
        auto writer = csv_writer<Row>(path, options);
        test::open(writer);
        for (const Row& row : rows) writer(row);
        writer.on(Closed{});
        const auto chunk_bytes = *rc::gen::element<std::size_t>(1, 9, 64, 4096);
        const auto emit =
            drain(csv_file<Row>(path, {.delimiter = delimiter,
                                       .header = named ? CsvHeader::skip : CsvHeader::none,
                                       .text = {.chunk_bytes = chunk_bytes}}),
                  {}, *rc::gen::inRange<std::size_t>(1, 40));
        RC_ASSERT(emit.records == rows);
    }));
}

TEST(CsvRoundTrip, TheEmptyTextOfASingleColumnIsNotABlankLine) {
    const Folder folder;
    const auto path = folder.file("a.csv");
    auto writer = csv_writer<std::string>(path);
    test::open(writer);
    for (const char* text : {"", "a", ""}) writer(text);
    writer.on(Closed{});
    EXPECT_EQ(folder.read("a.csv"), "\"\"\na\n\"\"\n");
    EXPECT_EQ(drain(csv_file<std::string>(path)).records, (std::vector<std::string>{"", "a", ""}));
}

/// Byte by byte.
std::string field_of(const std::string& text, char delimiter) {
    bool is_plain = true;
    std::string quoted = "\"";
    for (const char c : text) {
        is_plain = is_plain && c != delimiter && c != '"' && c != '\n' && c != '\r';
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    }
    return is_plain ? text : quoted + '"';
}

TEST(CsvRoundTrip, AFieldIsQuotedWhereItMustBe) {
    const std::string plain = "0123456789abcdefghijklm";
    for (const char delimiter : {',', ';', '\t', '|'}) {
        for (std::size_t size = 0; size != plain.size(); ++size) {
            for (std::size_t at = 0; at <= size; ++at) {
                for (int byte = 0; byte != 256; ++byte) {
                    std::string text = plain.substr(0, size);
                    if (at != size) text[at] = static_cast<char>(byte);
                    std::string out = "before";
                    append_csv_field(out, text, delimiter);
                    ASSERT_EQ(out, "before" + field_of(text, delimiter));
                }
            }
        }
    }
}

TEST(CsvRoundTrip, PythonReadsTheSameTextAndNumbers) {
    const Folder folder;
    const auto path = folder.file("a.csv");
    using Pair = std::pair<std::string, double>;
    auto writer = csv_writer<Pair>(path, {.header = {"text", "value"}});
    test::open(writer);
    for (const Pair& pair : {Pair{"a,\"b\"\r\n", 0.1}, Pair{" c ", 1e300}, Pair{"", -0.0},
                             Pair{"\n", 5e-324}, Pair{"\"", 100000}}) {
        writer(pair);
    }
    writer.on(Closed{});
    const auto script =
        folder.write("oracle.py",
                     "import csv, sys\n"
                     "rows = list(csv.reader(open(sys.argv[1], newline='')))\n"
                     "assert rows[0] == ['text', 'value'], rows[0]\n"
                     "got = [(text, float(value).hex()) for text, value in rows[1:]]\n"
                     "want = [('a,\"b\"\\r\\n', 0.1), (' c ', 1e300), ('', -0.0), ('\\n', 5e-324), "
                     "('\"', 1e5)]\n"
                     "assert got == [(text, value.hex()) for text, value in want], got\n");
    EXPECT_TRUE(shell("python3 " + script + " " + path));
}

}  // namespace
}  // namespace strid
