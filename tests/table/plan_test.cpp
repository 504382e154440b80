// SPDX-License-Identifier: Apache-2.0
//
// Plans from a file to a file, against plain loops; and what they parse, as explain() says and as
// faults in other columns show.
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/table/plan.hpp>

#include "../support/folder.hpp"
#include "../support/seeds.hpp"
#include "table_rows.hpp"

namespace strid::table {
namespace {

using strid::test::Folder;
using testing::HasSubstr;

Schema trades() {
    return Schema({{"day", {Kind::int64}},
                   {"symbol", {Kind::text}},
                   {"price", {Kind::float64}},
                   {"volume", {Kind::int64}},
                   {"note", {Kind::int64}}});
}

TEST(Plan, AnswersAsALoopDoes) {
    for (const auto seed : strid::test::seeds(6)) {
        std::mt19937_64 random(seed);
        const Folder folder;
        std::string input = "day,symbol,price,volume,note\n";
        std::string expected = "symbol,turnover\n";
        const auto rows = random() % 20'000;
        const auto limit = random() % 3'000;
        std::size_t found = 0;
        for (std::size_t i = 0; i != rows; ++i) {
            const auto quarters = random() % 4000;
            const auto volume = random() % 100;
            const std::string symbol = random() % 3 == 0 ? "AB" : "C";
            // The note is no number: it must not be parsed.
            input += fmt::format("{},{},{},{},x\n", i, symbol, static_cast<double>(quarters) / 4,
                                 volume);
            if (quarters <= 1200 || symbol != "AB" || found == limit) continue;
            ++found;
            const double turnover = static_cast<double>(quarters) / 4 * static_cast<double>(volume);
            expected += fmt::format("AB,{}\n", turnover);
        }
        const Plan plan = Plan::read_csv(folder.write("in.csv", input), trades())
                              .filter(parse_expression("price > 300 and symbol = 'AB'"))
                              .project({{"symbol", col("symbol")},
                                        {"unused", col("day") + 1},
                                        {"turnover", col("price") * col("volume")}})
                              .limit(limit)
                              .project({{"symbol", col("symbol")}, {"turnover", col("turnover")}})
                              .write_csv(folder.file("out.csv"));
        const RunReport report = run(plan, {.workers = 1 + seed % 2});
        ASSERT_EQ(folder.read("out.csv"), expected) << seed;
        EXPECT_NE(report.find("compute"), nullptr);
    }
}

TEST(Plan, ExplainsItself) {
    const Plan plan = Plan::read_csv("trades.csv", trades())
                          .filter(col("price") > 100)
                          .project({{"symbol", col("symbol")}, {"dear", col("price") * 2}})
                          .project({{"symbol", col("symbol")}})
                          .limit(10)
                          .write_csv("out.csv");
    EXPECT_EQ(plan.explain(),
              "read trades.csv: symbol text, price float64 (2 of 5 columns)\n"
              "filter price > 100\n"
              "project symbol\n"
              "project symbol\n"
              "limit 10\n"
              "write out.csv: symbol text\n");
}

TEST(Plan, ChecksEachStep) {
    const Plan plan = Plan::read_csv("trades.csv", trades());
    EXPECT_THROW((void)plan.filter(col("prize") > 1), ExpressionError);
    EXPECT_THROW((void)plan.filter(col("price") + 1), ExpressionError);
    EXPECT_THROW((void)plan.project({{"a", col("symbol") * 2}}), ExpressionError);
    const Plan projected = plan.project({{"a", col("price")}});
    EXPECT_THROW((void)projected.filter(col("price") > 1), ExpressionError);
    EXPECT_EQ(projected.schema(), Schema({{"a", {Kind::float64}}}));
    EXPECT_THROW((void)run(plan), GraphError);
    EXPECT_THROW((void)Plan::read_csv("trades.csv", Schema{}), GraphError);
}

// A later step needs no column at all, and yet the rows.
TEST(Plan, KeepsRowsOfWhichNoColumnIsNeeded) {
    const Folder folder;
    const std::string path = folder.write("in.csv",
                                          "day,symbol,price,volume,note\n"
                                          "1,AB,1.5,2,\n2,C,2.5,0,\n3,C,,,\n");
    std::size_t rows = 0;
    const Plan plan = Plan::read_csv(path, trades())
                          .project({{"price", col("price")}, {"symbol", col("symbol")}})
                          .project({{"one", 1}, {"two", col("price") * 2}})
                          .filter(col("one") == 1)
                          .project({{"three", 3}});
    (void)run(plan, [&rows](const Chunk& chunk) {
        rows += chunk.rows();
        for (const test::Row& row : test::rows_of(chunk)) {
            EXPECT_EQ(row, test::Row{test::Value(std::int64_t{3})});
        }
    });
    EXPECT_EQ(rows, 3);
}

TEST(Plan, HandsChunksToAFunction) {
    const Folder folder;
    const std::string path = folder.write("in.csv", "5;AB;1.5;2;\n6;C;2.5;0;\n");
    CsvOptions options{.delimiter = ';'};
    std::vector<test::Row> rows;
    const Plan plan = Plan::read_csv(path, trades(), options)
                          .project({{"share", col("price") / col("volume")}})
                          .on_fault(OnFault::null);
    (void)run(plan, [&rows](const Chunk& chunk) {
        for (test::Row& row : test::rows_of(chunk)) rows.push_back(std::move(row));
    });
    const std::vector<test::Row> expected{{test::Value(0.75)}, {test::Value{}}};
    EXPECT_EQ(rows, expected);
    try {
        (void)run(plan.on_fault(OnFault::stop), [](const Chunk&) {});
        FAIL();
    } catch (const OperatorError& error) {
        EXPECT_THAT(error.what(), HasSubstr("operator 'compute': price / volume: 2.5 / 0 divides"));
    }
}

}  // namespace
}  // namespace strid::table
