// SPDX-License-Identifier: Apache-2.0
//
// Rows that do not fit the header, and quotes that nothing closes. Expectations by hand; where rows
// are cut, by an implementation that looks at one byte after the other and keeps nothing.
#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_file.hpp>

#include "../support/opened.hpp"
#include "drive.hpp"

namespace strid {
namespace {

using test::drain;
using test::Folder;
using test::message_of;
using testing::ElementsAre;

using Pair = std::pair<std::optional<int>, std::optional<double>>;

/// The records, and how many rows were refused.
template <class T>
std::pair<std::vector<T>, std::uint64_t> skipping(const std::string& content, CsvOptions options) {
    const Folder folder;
    options.on_malformed = OnMalformed::skip;
    const auto emit = drain(csv_file<T>(folder.write("a.csv", content), std::move(options)));
    return {emit.records, emit.malformed};
}

TEST(CsvShape, ARowHasAsManyFieldsAsTheHeader) {
    const std::string content = "a,b,c\n1,2,3\n4,5\n6,7,8,9\n\n10,11,12\n13\n";
    for (const CsvOptions& options :
         {CsvOptions{.columns = {"a", "b"}}, CsvOptions{.columns = {"b", "a"}},
          CsvOptions{.header = CsvHeader::skip, .columns = {1, 2}}}) {
        const auto [records, malformed] = skipping<Pair>(content, options);
        EXPECT_EQ(records.size(), 2U);
        EXPECT_EQ(malformed, 3U);
    }
}

TEST(CsvShape, WithoutAHeaderTheFirstRowDeterminesHowMany) {
    const CsvOptions options{.columns = {1, 2}};
    EXPECT_EQ(skipping<Pair>("1,2,3\n4,5\n6,7,8,9\n10,11,12\n", options),
              std::pair(std::vector{Pair{1, 2}, Pair{10, 11}}, std::uint64_t{2}));
    // A row that has not even the columns that are asked for says nothing.
    EXPECT_EQ(skipping<Pair>("1\n4,5\n6,7,8\n10,11\n", options),
              std::pair(std::vector{Pair{4, 5}, Pair{10, 11}}, std::uint64_t{2}));
}

TEST(CsvShape, RaggedRowsWhereTheyAreAllowed) {
    const CsvOptions options{.columns = {"a", "c"}, .ragged = true};
    EXPECT_EQ(skipping<Pair>("a,b,c\n1,2,3\n4,5\n6,7,8,9\n10\n", options),
              std::pair(std::vector{Pair{1, 3}, Pair{4, std::nullopt}, Pair{6, 8},
                                    Pair{10, std::nullopt}},
                        std::uint64_t{0}));
    EXPECT_EQ(skipping<Pair>("1,2,3\n4\n", {.ragged = true}),
              std::pair(std::vector{Pair{1, 2}, Pair{4, std::nullopt}}, std::uint64_t{0}));
    // A number that is not there is not one.
    EXPECT_EQ((skipping<std::pair<int, int>>("1,2,3\n4\n", {.ragged = true}).second), 1U);
}

TEST(CsvShape, TheErrorStatesWhatIsExpected) {
    const Folder folder;
    const auto fault = [&](std::string_view content, CsvOptions options) {
        const auto path = folder.write("a.csv", content);
        return message_of<InputOutputError>([&] { drain(csv_file<Pair>(path, options)); })
            .substr(path.size() + 1);
    };
    EXPECT_EQ(fault("a,b,c\n1,2,3\n4,5\n", {.columns = {"a", "b"}}),
              "3: expected 3 fields, found 2");
    EXPECT_EQ(fault("1,2,3\n4,5\n", {.columns = {1, 2}}), "2: expected 3 fields, found 2");
    EXPECT_EQ(fault("1,2\n", {.columns = {1, 3}}), "1: expected at least 3 fields, found 2");
    EXPECT_EQ(fault("a,b\n1,2\n", {.header = CsvHeader::skip, .columns = {1, 3}}),
              "1: no column 3: the header has 2: a,b");
}

using Texts = std::pair<std::string, std::string>;

std::string lines(std::size_t count, const std::string& line) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += line;
    return text;
}

TEST(CsvShape, AQuotedFieldMayGoOnUpToTheLimits) {
    for (const std::size_t chunk_bytes : {1U, 64U, 100'000U}) {
        const TextOptions text{.chunk_bytes = chunk_bytes};
        const CsvOptions by_lines{.quoted_lines_max = 5, .text = text};
        const std::string of_five = "\"" + lines(4, "x\n") + "x\",b\n";
        const std::string of_six = "\"" + lines(5, "x\n") + "x\",b\n";
        EXPECT_EQ(skipping<Texts>(of_five + "c,d\n", by_lines).first.size(), 2U) << chunk_bytes;
        // Its first line is malformed, and so are five of one field.
        const auto [records, malformed] = skipping<Texts>(of_six + "c,d\n", by_lines);
        EXPECT_THAT(records, ElementsAre(Texts{"x\"", "b"}, Texts{"c", "d"})) << chunk_bytes;
        EXPECT_EQ(malformed, 5U) << chunk_bytes;

        const CsvOptions by_bytes{.quoted_bytes_max = 20, .text = text};
        const std::string within = "\"" + lines(2, "123456789\n") + "\",b\n";
        EXPECT_EQ(skipping<Texts>(within, by_bytes).first.size(), 0U) << chunk_bytes;
        EXPECT_EQ(skipping<Texts>(within, {.quoted_bytes_max = 21, .text = text}).first.size(), 1U);
        // A quote that is closed in its line has no such limit.
        EXPECT_EQ(skipping<Texts>("\"" + lines(50, "1") + "\",b\n", by_bytes).first.size(), 1U);
    }
}

TEST(CsvShape, AFileHasWideLimits) {
    const std::string long_text = "\"" + lines(99'999, "some text\n") + "\",b\n";
    EXPECT_EQ(skipping<Texts>(long_text, {}).first.size(), 1U);
    EXPECT_EQ(skipping<Texts>("\"\n" + lines(100'000, "1,2\n"), {}),
              std::pair(std::vector(100'000, Texts{"1", "2"}), std::uint64_t{1}));
}

/// The rows of `content` as the rules of CsvOptions have them: of each its fields, or nothing where
/// its first line is malformed.
std::vector<std::optional<std::vector<std::string>>> rows_of(const std::string& content,
                                                             std::size_t lines_max) {
    std::vector<std::optional<std::vector<std::string>>> rows;
    for (std::size_t begin = 0; begin < content.size();) {
        std::vector<std::string> fields{""};
        bool is_quoted = false;
        bool is_fault = false;
        bool is_behind_quote = false;
        bool is_first = true;  // of the field
        std::size_t newlines = 0;
        std::size_t at = begin;
        for (; !is_fault; ++at) {
            if (at == content.size()) {  // the last line has a newline
                is_fault = true;
                break;
            }
            const char c = content[at];
            if (is_quoted) {
                if (c == '"' && content[at + 1] == '"') {
                    fields.back() += '"';
                    ++at;
                } else if (c == '"') {
                    is_quoted = false;
                    is_behind_quote = true;
                } else {
                    fields.back() += c;
                    newlines += static_cast<std::size_t>(c == '\n');
                    is_fault = newlines == lines_max;
                }
            } else if (c == '\n') {
                break;
            } else if (c == ',') {
                fields.emplace_back();
                is_first = true;
                is_behind_quote = false;
                continue;
            } else if (is_behind_quote) {
                is_fault = true;
            } else if (c == '"' && is_first) {
                is_quoted = true;
            } else {
                fields.back() += c;
            }
            is_first = false;
        }
        if (is_fault) {
            rows.emplace_back(std::nullopt);
            begin = content.find('\n', begin) + 1;
        } else {
            const bool is_blank = at == begin;
            if (!is_blank) rows.emplace_back(std::move(fields));
            begin = at + 1;
        }
    }
    return rows;
}

// At most as many lines as are looked at again, so that the rule is the same everywhere.
TEST(CsvShape, RowsAreCutTheSameInAnyPortions) {
    std::mt19937_64 random(9);
    const std::array<std::string, 8> pieces{"a", "\"", ",", "\n", "\"\"", ",\"", "\",", "b\n"};
    for (int trial = 0; trial < 60; ++trial) {
        std::string content;
        for (auto n = random() % 120; n > 0; --n) content += pieces[random() % pieces.size()];
        content += '\n';
        const std::size_t lines_max = 1 + random() % 6;
        std::vector<Texts> expected;
        std::uint64_t refused = 0;
        for (const auto& row : rows_of(content, lines_max)) {
            if (row && row->size() == 2) {
                expected.emplace_back((*row)[0], (*row)[1]);
            } else {
                ++refused;
            }
        }
        for (const std::size_t chunk_bytes : {1U, 3U, 16U, 100'000U}) {
            const CsvOptions options{.quoted_lines_max = lines_max,
                                     .text = {.chunk_bytes = chunk_bytes}};
            const auto [records, malformed] = skipping<Texts>(content, options);
            ASSERT_EQ(records, expected) << content << "by " << chunk_bytes;
            ASSERT_EQ(malformed, refused) << content << "by " << chunk_bytes;
        }
    }
}

// Each line, read as the beginning of a row, is one that goes on to the end of the input.
TEST(CsvShape, ManyLinesThatMayBeginALongRowTakeLinearTime) {
    const std::size_t count = 10'000;
    const auto [records, malformed] = skipping<Texts>(lines(count, "a\",x,\"c\n"), {});
    EXPECT_EQ(records.size(), 0U);
    EXPECT_EQ(malformed, count);
}

/// Polls a pipe that holds `content` and goes on, stops the source, and polls to its end.
test::Emit<Texts> stopped(const std::string& content, OnMalformed policy) {
    const Folder folder;
    const std::string path = folder.file("pipe");
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const int writer = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_EQ(::write(writer, content.data(), content.size()),
              static_cast<ssize_t>(content.size()));
    test::Emit<Texts> emit;
    auto source = csv_file<Texts>(path, {.on_malformed = policy});
    test::open(source);
    while (source.poll(emit, 100) != SourceStatus::idle) {
    }
    source.on(Stopped{});
    while (source.poll(emit, 1) != SourceStatus::finished) {
    }
    ::close(writer);
    return emit;
}

TEST(CsvShape, AStopReadsOutWhatWasTakenFromAPipe) {
    const std::string content = "1,a\n2,\"b\n3,c\n4,d\n5,e";
    const auto skipping = stopped(content, OnMalformed::skip);
    EXPECT_THAT(skipping.records, ElementsAre(Texts{"1", "a"}, Texts{"3", "c"}, Texts{"4", "d"}));
    EXPECT_EQ(skipping.malformed, 2U);  // the open quote, and the line that had not come wholly
    // A row of many lines may have begun: this is no error, but it is reported.
    const auto stopping = stopped(content, OnMalformed::stop);
    EXPECT_THAT(stopping.records, ElementsAre(Texts{"1", "a"}));
    EXPECT_EQ(stopping.malformed, 1U);
    EXPECT_EQ(stopped("1,a\n", OnMalformed::stop).malformed, 0U);
}

TEST(CsvShape, AStopCutsNothingOffAFile) {
    const Folder folder;
    const std::string content = lines(1000, "1,a\n");
    auto source = csv_file<Texts>(folder.write("a.csv", content), {.text = {.chunk_bytes = 64}});
    test::Emit<Texts> emit;
    test::open(source);
    EXPECT_EQ(source.poll(emit, 3), SourceStatus::more);
    source.on(Stopped{});
    while (source.poll(emit, 100) != SourceStatus::finished) {
    }
    EXPECT_LT(emit.records.size(), 100U);
    EXPECT_EQ(emit.malformed, 0U);
}

}  // namespace
}  // namespace strid
