// SPDX-License-Identifier: Apache-2.0
//
// Ways to write CSV besides the usual one, headers, and several files. Expectations by hand.
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_file.hpp>

#include "drive.hpp"

namespace strid {
namespace {

using test::drain;
using test::Folder;
using test::message_of;
using testing::ElementsAre;

using Row = std::tuple<int, std::optional<double>>;

template <class T = Row>
std::vector<T> parse(std::string_view content, CsvOptions options) {
    const Folder folder;
    return drain(csv_file<T>(folder.write("a.csv", content), std::move(options))).records;
}

template <class T = Row>
std::string fault(std::string_view content, CsvOptions options) {
    const Folder folder;
    const auto path = folder.write("a.csv", content);
    return message_of<InputOutputError>([&] { drain(csv_file<T>(path, std::move(options))); })
        .substr(path.size() + 1);
}

TEST(CsvDialect, LinesThatAreNoPartOfTheTable) {
    for (const std::size_t chunk_bytes : {1U, 1000U}) {
        const TextOptions text{.chunk_bytes = chunk_bytes};
        EXPECT_THAT(parse("# a \"comment\n#\nts,x\n1,2\n#3,4\n5,6\n# end",
                          {.comment = '#', .columns = {"ts", "x"}, .text = text}),
                    ElementsAre(Row{1, 2}, Row{5, 6}));
        EXPECT_THAT(parse("one \"\ntwo,2\n3,4\n", {.skip_lines = 2, .text = text}),
                    ElementsAre(Row{3, 4}));
        EXPECT_THAT(parse("1,2\n\n%\n3,4\n", {.skip_lines = 1, .comment = '%', .text = text}),
                    ElementsAre(Row{3, 4}));
        EXPECT_THAT(parse("1,2\n", {.skip_lines = 5, .text = text}), ElementsAre());
        EXPECT_THAT(parse("\xEF\xBB\xBF#\nts,x\n1,2\n",
                          {.comment = '#', .columns = {"ts", "x"}, .text = text}),
                    ElementsAre(Row{1, 2}));
    }
    EXPECT_THROW(parse("", {.comment = ','}), GraphError);
    EXPECT_THROW(parse("", {.comment = '"'}), GraphError);
}

using Texts = std::tuple<int, std::string, int>;

TEST(CsvDialect, QuotesThatAreCharacters) {
    EXPECT_THAT(parse<Texts>("1\t36\" wide\t2\n3\t\"loose\t4\n5\tend\"\t6\n7\t\"in\"\t8\n",
                             {.delimiter = '\t', .quotes = false}),
                ElementsAre(Texts{1, "36\" wide", 2}, Texts{3, "\"loose", 4}, Texts{5, "end\"", 6},
                            Texts{7, "\"in\"", 8}));
}

TEST(CsvDialect, EscapesInQuotesAndOutside) {
    for (const std::size_t chunk_bytes : {1U, 1000U}) {
        const CsvOptions options{.escape = '\\', .text = {.chunk_bytes = chunk_bytes}};
        EXPECT_THAT(parse<Texts>("1,\"say \\\"hi\\\"\",2\n3,\"a \\\", and\",4\n5,\"C:\\\\\",6\n"
                                 "7,a\\,b,8\n9,\\N,0\n1,\"\\\n\",2\n3,\"two \"\"\",4\r\n",
                                 options),
                    ElementsAre(Texts{1, "say \"hi\"", 2}, Texts{3, "a \", and", 4},
                                Texts{5, "C:\\", 6}, Texts{7, "a,b", 8}, Texts{9, "\\N", 0},
                                Texts{1, "\n", 2}, Texts{3, "two \"", 4}));
        EXPECT_EQ(fault<Texts>("1,a\\\n2\n", options), "1: expected 3 fields, found 2");
    }
    EXPECT_THROW(parse("", {.escape = '"'}), GraphError);
    EXPECT_THROW(parse("", {.escape = ','}), GraphError);
}

TEST(CsvDialect, DecimalCommas) {
    const CsvOptions options{.delimiter = ';', .decimal_comma = true};
    EXPECT_THAT(
        parse("1;1,5\n2;-,25\n3;1e-1\n4;7\n5;\n", options),
        ElementsAre(Row{1, 1.5}, Row{2, -0.25}, Row{3, 0.1}, Row{4, 7}, Row{5, std::nullopt}));
    EXPECT_EQ(fault("1;1,5\n2;1.5\n", options), "2: field 2: not a number: \"1.5\"");
    EXPECT_EQ(fault("1;1,5\n2;1.000,5\n", options), "2: field 2: not a number: \"1.000,5\"");
    EXPECT_EQ(fault("1;1,5\n2;1,5,5\n", options), "2: field 2: not a number: \"1,5,5\"");
    EXPECT_THAT(parse("1,\"1,5\"\n", {.decimal_comma = true}), ElementsAre(Row{1, 1.5}));
}

TEST(CsvDialect, WordsForNoValue) {
    const CsvOptions options{.null_words = {"NA", "-", "\\N"}};
    EXPECT_THAT(
        parse("1,NA\n2,-\n3,\\N\n4,\"NA\"\n5, NA \n6, \n7,-1\n", options),
        ElementsAre(Row{1, std::nullopt}, Row{2, std::nullopt}, Row{3, std::nullopt},
                    Row{4, std::nullopt}, Row{5, std::nullopt}, Row{6, std::nullopt}, Row{7, -1}));
    EXPECT_EQ(fault("1,NA\n2,na\n", options),
              "2: field 2: not a number: \"na\" (no value? then .null_words = {\"na\"})");
    EXPECT_EQ(fault("1,1\nNA,1\n", options), "2: field 1: not an integer: \"NA\"");
    EXPECT_THAT(parse<std::string>("NA\nx\n", {.null_words = {"NA"}}), ElementsAre("", "x"));
}

TEST(CsvDialect, NamesInTheHeader) {
    EXPECT_THAT(parse(" ts ,\tx\n1, 2\n", {.columns = {"ts", "x"}}), ElementsAre(Row{1, 2}));
    EXPECT_THAT(parse("ts,\" x\"\n1,2\n", {.columns = {"ts", 2}}), ElementsAre(Row{1, 2}));
    EXPECT_EQ(fault("x,y,x\n1,2,3\n", {.columns = {"y", "x"}}),
              "1: columns 1 and 3 are both 'x' in the header: ask for its number");
    EXPECT_EQ(fault("x, x\n1,2\n", {.columns = {1, "x"}}),
              "1: columns 1 and 2 are both 'x' in the header: ask for its number");
    EXPECT_THAT(parse("x,y,x,z\n1,2,3,4\n", {.columns = {"y", "z"}}), ElementsAre(Row{2, 4}));
    EXPECT_THAT(parse("x,y,x\n1,2,3\n", {.columns = {"y", 3}}), ElementsAre(Row{2, 3}));
}

TEST(CsvDialect, AHeaderThatComesAgainIsPassedOver) {
    for (const std::string end : {"\n", "\r\n"}) {
        const std::string header = "ts,\"x\"" + end;
        const std::string content = header + "1,2" + end + header + "3,4" + end + header + header +
                                    "\xEF\xBB\xBF" + header + "5,6" + end + header;
        EXPECT_THAT(parse(content, {.columns = {"ts", "x"}}),
                    ElementsAre(Row{1, 2}, Row{3, 4}, Row{5, 6}));
        EXPECT_THAT(parse(content, {.header = CsvHeader::skip}),
                    ElementsAre(Row{1, 2}, Row{3, 4}, Row{5, 6}));
    }
    using Texts = std::pair<std::string, std::string>;
    for (const std::string content :
         {"a,b\nc,d\na,b\ne,f\n", "a,b\r\nc,d\r\na,b\r\ne,f\r\n", "a,b\nc,d\na,b\r\ne,f"}) {
        const Folder folder;
        const auto emit =
            drain(csv_file<Texts>(folder.write("a", content), {.header = CsvHeader::skip}));
        EXPECT_THAT(emit.records, ElementsAre(Texts{"c", "d"}, Texts{"e", "f"}));
    }
    // Without a header there is none to come again.
    EXPECT_THAT(parse<Texts>("a,b\na,b\n", {}), ElementsAre(Texts{"a", "b"}, Texts{"a", "b"}));
}

TEST(CsvDialect, ErrorsNameTheOption) {
    const CsvOptions named{.columns = {"ts", "x"}};
    EXPECT_EQ(fault("ts;x\n1;2\n", named),
              "1: no column 'ts' in the header: ts;x (other delimiters? then .delimiter = ';')");
    EXPECT_EQ(fault("ts\tx\n1\t2\n", named),
              "1: no column 'ts' in the header: ts\\x09x (other delimiters? then .delimiter = "
              "'\\t')");
    EXPECT_EQ(fault("# one, two\nts,x\n", named),
              "1: no column 'ts' in the header: # one, two (a comment? then .comment = '#')");
    EXPECT_EQ(fault("Report of today\nts,x\n", named),
              "1: no column 'ts' in the header: Report of today (a line before the header? then "
              ".skip_lines)");
    EXPECT_EQ(fault("sep=;\nts;x\n", named),
              "1: no column 'ts' in the header: sep=; (the separator line of a spreadsheet? then "
              ".skip_lines = 1, .delimiter = ';')");
    EXPECT_EQ(fault("\xef\xbb\xbfsep=,\nts,x\n", named),
              "1: no column 'ts' in the header: sep=, (the separator line of a spreadsheet? then "
              ".skip_lines = 1)");
    EXPECT_EQ(fault("1;2\n", {}),
              "1: expected 2 fields, found 1 (other delimiters? then .delimiter = ';')");
    EXPECT_EQ(fault("device,value\n1,2\n", {}),
              "1: field 1: not an integer: \"device\" (line 1 looks like a header, and none is "
              "expected: leave it out as tail -n +2 does, or set .header)");
    EXPECT_EQ(fault("ts,x\r1,2\r3,4\r", named),
              "1: lines end in a carriage return alone, as old Macs wrote them; tr '\\r' '\\n' "
              "makes them lines");
}

TEST(CsvFiles, OneBehindTheOther) {
    const Folder folder;
    const std::vector<std::string> paths{folder.write("a.csv", "ts,x\n1,2\n3,4"),
                                         folder.write("b.csv", "\xEF\xBB\xBFx,other,ts\n6,,5\n"),
                                         folder.write("c.csv", ""),
                                         folder.write("d.csv", "ts,x\n7,8\n9,x\n")};
    const auto emit =
        drain(csv_files<Row>(paths, {.columns = {"ts", "x"}, .on_malformed = OnMalformed::skip}));
    EXPECT_THAT(emit.records, ElementsAre(Row{1, 2}, Row{3, 4}, Row{5, 6}, Row{7, 8}));
    EXPECT_EQ(emit.malformed, 1U);
    EXPECT_EQ(message_of<InputOutputError>([&] {
                  drain(csv_files<Row>(paths, {.columns = {"ts", "x"}}));
              }),
              paths[3] + ":3: field 2 'x': not a number: \"x\"");
    EXPECT_EQ(message_of<InputOutputError>([&] {
                  drain(csv_files<Row>({paths[0], folder.file("none")}, {}));
              }),
              folder.file("none") + ": cannot open: No such file or directory");
    EXPECT_THROW(csv_files<Row>({}, {}), GraphError);
    EXPECT_THROW(csv_files<Row>({"-", "-"}, {}), GraphError);
}

TEST(CsvFiles, TextOfEarlierFilesStays) {
    const Folder folder;
    std::vector<std::string> paths;
    std::vector<std::string> expected;
    for (int i = 0; i < 20; ++i) {
        std::string content;
        for (int line = 0; line < 50; ++line) {
            expected.push_back("text " + std::to_string(i) + " " + std::to_string(line));
            content += expected.back() + "\n";
        }
        paths.push_back(folder.write("f" + std::to_string(i), content));
    }
    const auto emit = drain(csv_files<std::string_view>(paths, {.text = {.chunk_bytes = 100}}));
    const std::vector<std::string> got(emit.records.begin(), emit.records.end());
    EXPECT_EQ(got, expected);
}

}  // namespace
}  // namespace strid
