// SPDX-License-Identifier: Apache-2.0
//
// Graphs whose outputs name their inputs or each other, and results of runs that do not end well.
#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>
#include <strid/connector/connector.hpp>
#include <strid/connector/dead_letter_file.hpp>
#include <strid/stream/graph.hpp>

#include "../../support/folder.hpp"

namespace strid {
namespace {

using test::Folder;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct Row {
    int number;
};

std::string refusal(const Graph& graph) {
    try {
        run(graph);
    } catch (const GraphError& error) {
        return error.what();
    }
    return "";
}

TEST(Files, AnOutputThatIsAnInputIsRefusedBeforeAnythingIsOpened) {
    const Folder folder;
    const auto input = folder.write("in.csv", "1\n2\n");
    const auto link = folder.file("link.csv");
    std::filesystem::create_symlink(input, link);
    for (const auto& output : {input, link, folder.file("./in.csv")}) {
        Graph csv{"csv"};
        csv.source(csv_file<Row>(input), {.name = "read"})
            .sink(csv_writer<Row>(output), {.name = "write"});
        EXPECT_THAT(refusal(csv), AllOf(HasSubstr("operator 'write' would write to"),
                                        HasSubstr(output), HasSubstr("operator 'read' reads")));
        Graph text{"text"};
        text.source(replay(paced(text_lines(input), 1e6))).sink(text_writer(output));
        EXPECT_THAT(refusal(text), HasSubstr("reads"));
        EXPECT_EQ(folder.read("in.csv"), "1\n2\n");
    }
    Graph letters{"letters"};
    letters
        .source(csv_file<Row>(
            input, {.on_malformed = OnMalformed::dead_letter, .dead_letter = DeadLetterFile{link}}))
        .sink(discard());
    EXPECT_THAT(refusal(letters), HasSubstr("link.csv"));
    EXPECT_EQ(folder.read("in.csv"), "1\n2\n");
}

TEST(Files, TwoSinksOfOneFileAreRefusedUnlessTheyShareTheWriter) {
    const Folder folder;
    const auto output = folder.file("out.csv");
    const auto build = [](Graph& graph, auto first, auto second) {
        auto branches =
            graph.source(from_vector(std::vector<Row>{{1}, {2}})).split(2, [](const Row& row) {
                return static_cast<std::size_t>(row.number % 2);
            });
        branches.select(0).sink(std::move(first), {.name = "even"});
        branches.select(1).sink(std::move(second), {.name = "odd"});
    };
    Graph two{"two"};
    build(two, csv_writer<Row>(output), csv_writer<Row>(folder.file("./out.csv")));
    EXPECT_THAT(refusal(two), AllOf(HasSubstr("even"), HasSubstr("odd"), HasSubstr("same file")));
    const auto shared = csv_writer<Row>(output);
    Graph one{"one"};
    build(one, shared, shared);
    EXPECT_EQ(refusal(one), "");
    const auto rows = folder.read("out.csv");
    EXPECT_TRUE(rows == "1\n2\n" || rows == "2\n1\n") << rows;
}

TEST(Files, SourcesMayShareAnInputAndTheirDeadLetters) {
    const Folder folder;
    const auto input = folder.write("in.csv", "1\nx\n");
    const DeadLetterFile letters{folder.file("letters")};
    const CsvOptions options{.on_malformed = OnMalformed::dead_letter, .dead_letter = letters};
    Graph graph{"graph"};
    graph.source(csv_file<Row>(input, options)).sink(discard());
    graph.source(csv_file<Row>(input, options)).sink(discard());
    run(graph);
    for (int i = 0; i < 2; ++i) {
        const auto rows = folder.read("letters");
        const auto row = rows.substr(0, rows.size() / 2);
        EXPECT_THAT(row, AllOf(StartsWith(input + ",2,"), EndsWith(",x\n")));
        EXPECT_EQ(rows, row + row);
        run(graph);  // the file is begun anew
    }
}

bool has_temporary(const Folder& folder) {
    const std::filesystem::directory_iterator entries(folder.file("."));
    return std::any_of(begin(entries), end(entries), [](const auto& entry) {
        return entry.path().extension() == temporary_ending;
    });
}

struct AtTheEnd {
    static constexpr FunctionTraits traits{.hears = events<Closed>, .stateless = true};

    bool fails;
    void operator()(const Row&) const {}
    void on(Closed) const {
        if (fails) throw std::runtime_error("no");
    }
};

TEST(Files, ARunThatFailsLeavesTheOldResultsOfAllItsSinks) {
    const Folder folder;
    folder.write("a", "old\n");
    folder.write("b", "old\n");
    for (const bool fails : {true, false}) {
        Graph graph{"graph"};
        auto branches =
            graph.source(from_vector(std::vector<Row>{{0}, {1}})).split(3, [](const Row& row) {
                return static_cast<std::size_t>(row.number);
            });
        branches.select(0).sink(csv_writer<Row>(folder.file("a")));
        branches.select(1).sink(csv_writer<Row>(folder.file("b")));
        branches.select(2).sink(AtTheEnd{fails});
        if (fails) {
            EXPECT_THROW(run(graph), OperatorError);
        } else {
            run(graph);
        }
        EXPECT_EQ(folder.read("a"), fails ? "old\n" : "0\n");
        EXPECT_EQ(folder.read("b"), fails ? "old\n" : "1\n");
    }
    EXPECT_FALSE(has_temporary(folder));
}

TEST(Files, ACancelledRunLeavesTheOldResult) {
    const Folder folder;
    folder.write("a", "old\n");
    Graph graph{"graph"};
    auto [inlet, rows] = graph.inlet<Row>();
    std::move(rows).sink(csv_writer<Row>(folder.file("a")));
    {
        Running running = start(graph);
        ASSERT_TRUE(inlet.push({1}));
        running.cancel();
        running.wait();
    }
    EXPECT_EQ(folder.read("a"), "old\n");
    EXPECT_FALSE(has_temporary(folder));
}

TEST(Files, OutOfMemoryNamesTheOperator) {
    Graph graph{"graph"};
    graph.source(from_vector(std::vector<Row>{{1}}))
        .map([](const Row&) -> int { throw std::bad_alloc(); }, {.name = "hungry"})
        .sink(discard());
    try {
        run(graph);
        FAIL();
    } catch (const OperatorError& error) {
        EXPECT_STREQ(error.what(), "operator 'hungry': out of memory");
    }
}

TEST(Files, WhatIsReplayedHasABound) {
    const Folder folder;
    std::string lines;
    for (int i = 0; i < 100'000; ++i) lines += "line\n";
    const auto input = folder.write("in", lines);
    Graph graph{"graph"};
    graph.source(replay(text_lines(input), {.bytes_max = 1'000'000})).sink(discard());
    try {
        run(graph);
        FAIL();
    } catch (const OperatorError& error) {
        EXPECT_THAT(error.what(), HasSubstr("does not fit into 1.0 MB of memory"));
    }
    Graph fits{"fits"};
    fits.source(replay(text_lines(input), {.bytes_max = 50'000'000})).sink(discard());
    EXPECT_EQ(run(fits).records_in(), 100'000U);
}

}  // namespace
}  // namespace strid
