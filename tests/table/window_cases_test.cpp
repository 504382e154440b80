// SPDX-License-Identifier: Apache-2.0
//
// Windows over chunks: many keys that come and go, refused specifications, aggregates as text, and
// sums beyond their type.
#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/table/step.hpp>
#include <strid/table/window.hpp>
#include <strid/test/harness.hpp>

#include "../../src/table/improved_plan.hpp"
#include "../support/seeds.hpp"
#include "random_windows.hpp"
#include "table_rows.hpp"

namespace strid::table {
namespace {

using namespace std::chrono_literals;
using test::Row;
using test::Value;
using testing::HasSubstr;
using window::CountWindows;
using window::TimeWindows;

// Groups come and go: slots of the table are moved, and records are used again.
TEST(TableWindows, ManyKeys) {
    const Schema columns({{"at", {Kind::time}}, {"key", {Kind::int64}}, {"text", {Kind::text}}});
    std::mt19937_64 random(strid::test::first_seed());
    ChunkMemory memory;
    strid::test::Harness harness{TableStep<true>([&] {
        std::vector<std::unique_ptr<TableOperator>> operators;
        operators.push_back(event_time("at", Duration{1000}, columns));
        operators.push_back(windowed({.keys = {"key", "text"},
                                      .windows = TimeWindows::tumbling(Duration{5000}),
                                      .aggregates = parse_aggregates("count, sum(key) as s"),
                                      .time = "at"},
                                     columns));
        return pipeline(std::move(operators), columns);
    }())};
    std::map<Row, std::int64_t> counts;
    for (std::int64_t now = 0; now < 60'000; now += 600) {
        std::vector<Row> rows;
        for (int i = 0; i != 600; ++i) {
            const auto key = static_cast<std::int64_t>(random() % 3000);
            const std::int64_t at = now + static_cast<std::int64_t>(random() % 600);
            const std::string text(static_cast<std::size_t>(key % 40), 'k');
            rows.push_back({at, key, text});
            ++counts[{key, text, at / 5000 * 5000, at / 5000 * 5000 + 5000}];
        }
        harness.record(test::chunk_of(columns, rows, memory));
    }
    ASSERT_TRUE(harness.end());
    std::vector<Row> expected;
    for (const auto& [key, count] : counts) {
        Row row = key;
        row.emplace_back(count);
        row.emplace_back(count * std::get<std::int64_t>(key[0]));
        expected.push_back(std::move(row));
    }
    std::vector<Row> found;
    for (const Chunk& chunk : harness.emitted()) {
        for (Row& row : test::rows_of(chunk)) found.push_back(std::move(row));
    }
    std::ranges::sort(found);
    EXPECT_TRUE(found == expected);
}

TEST(TableWindows, AreRefusedWhenTheyAreMade) {
    const auto refused = [](WindowSpec spec) {
        if (spec.aggregates.empty()) spec.aggregates = parse_aggregates("count");
        try {
            (void)windowed(spec, test::window_schema());
        } catch (const GraphError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const Windows minute = TimeWindows::tumbling(1min);
    EXPECT_THAT(refused({.windows = minute}), HasSubstr("there is no event time"));
    EXPECT_THAT(refused({.windows = minute, .time = "i"}), HasSubstr("column 'i' is int64"));
    EXPECT_THAT(refused({.keys = {"nobody"}, .windows = minute, .time = "at"}),
                HasSubstr("there is no column 'nobody'"));
    EXPECT_THAT(
        refused({.windows = minute, .aggregates = parse_aggregates("sum(t)"), .time = "at"}),
        HasSubstr("sum(t): column 't' is text"));
    EXPECT_THAT(
        refused({.windows = minute, .aggregates = parse_aggregates("count, count"), .time = "at"}),
        HasSubstr("two columns are named 'count'"));
    EXPECT_THAT(refused({.windows = minute, .lateness = -1s, .time = "at"}),
                HasSubstr("lateness of a window is negative"));
    EXPECT_THAT(refused({.windows = CountWindows::sliding(4, 2)}), HasSubstr("number of rows"));
    EXPECT_THROW((void)event_time("at", -1s, test::window_schema()), GraphError);
    EXPECT_THROW((void)deduplicate({"i"}, "at", 0s, test::window_schema()), GraphError);
    EXPECT_THROW((void)step(event_time("at", 1s, test::window_schema())), GraphError);
    EXPECT_THROW((void)timed_step(deduplicate({"i"}, "at", 1s, test::window_schema())), GraphError);
}

TEST(TableWindows, AggregatesAreReadFromText) {
    const auto read = [](std::string_view text) {
        std::string all;
        for (const Aggregate& one : parse_aggregates(text)) {
            all += one.name + " = " + one.text() + "; ";
        }
        return all;
    };
    EXPECT_EQ(read("count , COUNT(*) as n, mean( x ),count(distinct \"a b\") as d"),
              "count = count; n = count; mean( x ) = avg(x); d = count(distinct \"a b\"); ");
    EXPECT_EQ(read("quantile(x, 0.5) as q, median(distinct), count(distinct)"),
              "q = quantile(x, 0.5); median(distinct) = quantile(distinct, 0.5); "
              "count(distinct) = count(distinct); ");
    for (const char* wrong : {"", "count,", "sum", "sum()", "sum(x", "total(x)", "quantile(x)",
                              "quantile(x, 2)", "quantile(x, y)", "count as", "count count"}) {
        EXPECT_THROW((void)parse_aggregates(wrong), ExpressionError) << wrong;
    }
}

// A sum beyond its type ends the run or is NULL; a smaller one is exact whatever was on the way.
TEST(TableWindows, SumsBeyondTheirType) {
    const Schema columns({{"at", {Kind::time}}, {"i", {Kind::int64}}, {"d", {Kind::decimal, 1}}});
    const std::int64_t large = std::numeric_limits<std::int64_t>::max();
    const std::int64_t decimal = 999'999'999'999'999'999;
    ChunkMemory memory;
    const WindowSpec spec{.windows = TimeWindows::tumbling(Duration{10}),
                          .aggregates = parse_aggregates("sum(i) as i, sum(d) as d, avg(i) as a"),
                          .time = "at"};
    const auto give = [&](const std::vector<Row>& rows, OnFault on_fault) {
        strid::test::Harness harness{step(windowed(spec, columns, on_fault))};
        harness.record(test::chunk_of(columns, rows, memory));
        (void)harness.end();
        return test::rows_of(harness.emitted().at(0)).at(0);
    };
    const Row there_and_back = give({{std::int64_t{1}, large, decimal},
                                     {std::int64_t{2}, large, decimal},
                                     {std::int64_t{2}, -large, -decimal},
                                     {std::int64_t{2}, Value{}, Value{}}},
                                    OnFault::stop);
    EXPECT_EQ(there_and_back[2], Value(large));
    EXPECT_EQ(there_and_back[3], Value(decimal));
    const std::vector<Row> beyond{{std::int64_t{1}, large, decimal},
                                  {std::int64_t{2}, std::int64_t{1}, std::int64_t{1}}};
    const Row nulls = give(beyond, OnFault::null);
    EXPECT_EQ(nulls[2], Value{});
    EXPECT_EQ(nulls[3], Value{});
    EXPECT_EQ(nulls[4], Value(static_cast<double>(large) / 2));
    try {
        (void)give(beyond, OnFault::stop);
        FAIL();
    } catch (const OperatorError& error) {
        EXPECT_THAT(error.what(), HasSubstr("sum(i): the result is beyond int64"));
    }
}

// The state of other windows over the same columns has the same form.
TEST(TableWindows, AStateOfAnotherComputationIsRefused) {
    const Schema columns({{"at", {Kind::time}}, {"a", {Kind::int64}}, {"b", {Kind::int64}}});
    const auto made = [&columns](const char* sum) {
        return TableStep<>(windowed({.windows = TimeWindows::tumbling(Duration{10}),
                                     .aggregates = parse_aggregates(sum),
                                     .time = "at"},
                                    columns));
    };
    ChunkMemory memory;
    strid::test::Harness first{made("sum(a) as s")};
    first.record(
        test::chunk_of(columns, {{std::int64_t{1}, std::int64_t{1}, std::int64_t{1000}}}, memory));
    strid::test::Harness second{made("sum(b) as s")};
    try {
        second.restore(first.saved());
        FAIL();
    } catch (const StateError& error) {
        EXPECT_THAT(error.what(), HasSubstr("of another computation"));
        EXPECT_THAT(error.what(), HasSubstr("sum(a) as s"));
        EXPECT_THAT(error.what(), HasSubstr("sum(b) as s"));
    }
}

TEST(TableWindows, QuantilesOfInfinities) {
    const Schema columns({{"at", {Kind::time}}, {"x", {Kind::float64}}});
    const double infinity = std::numeric_limits<double>::infinity();
    ChunkMemory memory;
    strid::test::Harness harness{step(windowed({.windows = TimeWindows::tumbling(Duration{10}),
                                                .aggregates = parse_aggregates("median(x)"),
                                                .time = "at"},
                                               columns))};
    harness.record(test::chunk_of(
        columns, {{std::int64_t{1}, infinity}, {std::int64_t{2}, infinity}}, memory));
    (void)harness.end();
    EXPECT_EQ(test::rows_of(harness.emitted().at(0)).at(0)[2], Value(infinity));
}

// A session that has fired fires again for each chunk within the lateness.
TEST(TableWindows, ASessionThatChangesVeryOften) {
    constexpr int changes = 70'000;
    const Schema columns({{"at", {Kind::time}}, {"key", {Kind::text}}});
    ChunkMemory memory;
    strid::test::Harness harness{
        step(windowed({.keys = {"key"},
                       .windows = window::SessionWindows::with_gap(Duration{10}),
                       .aggregates = parse_aggregates("count"),
                       .lateness = Duration{1'000'000'000},
                       .time = "at"},
                      columns))};
    const auto record = [&](std::int64_t at, const char* key) {
        harness.record(test::chunk_of(columns, {{at, std::string(key)}}, memory));
    };
    record(5, "a");
    harness.watermark(EventTime::of_ns(1000));
    for (int i = 0; i != changes; ++i) record(5, "a");
    EXPECT_EQ(harness.take_emitted().size(), changes + 1U);
    harness.watermark(EventTime::of_ns(2'000'000'000));
    record(2'000'000'001, "b");
    record(2'000'000'001, "c");
    (void)harness.end();
    std::vector<Row> found;
    for (const Chunk& chunk : harness.emitted()) {
        for (const Row& row : test::rows_of(chunk)) found.push_back({row[0], row[3]});
    }
    std::ranges::sort(found);
    EXPECT_EQ(found, (std::vector<Row>{{std::string("b"), std::int64_t{1}},
                                       {std::string("c"), std::int64_t{1}}}));
}

TEST(TableWindows, WithoutABoundOfTheDisorderNoRowIsLate) {
    const Schema columns({{"at", {Kind::time}}});
    ChunkMemory memory;
    strid::test::Harness harness{TableStep<true>([&] {
        std::vector<std::unique_ptr<TableOperator>> operators;
        operators.push_back(event_time("at", Duration::max(), columns));
        operators.push_back(windowed({.windows = TimeWindows::tumbling(Duration{1000}),
                                      .aggregates = parse_aggregates("count"),
                                      .time = "at"},
                                     columns));
        return pipeline(std::move(operators), columns);
    }())};
    for (const std::int64_t at :
         {std::int64_t{9'000'000'000'000'000'000}, std::int64_t{-9'000'000'000'000'000'000}}) {
        harness.record(test::chunk_of(columns, {{at}}, memory));
    }
    (void)harness.end();
    std::size_t rows = 0;
    for (const Chunk& chunk : harness.emitted()) rows += chunk.rows();
    EXPECT_EQ(rows, 2U);
}

}  // namespace
}  // namespace strid::table
