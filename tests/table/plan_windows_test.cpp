// SPDX-License-Identifier: Apache-2.0
//
// Steps of plans that go by time, from a file to files: results, late rows, what is parsed, and
// what is refused.
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/stream/graph.hpp>
#include <strid/table/csv_chunks.hpp>
#include <strid/table/plan.hpp>
#include <strid/table/step.hpp>

#include "../support/folder.hpp"
#include "../support/seeds.hpp"
#include "table_rows.hpp"

namespace strid::table {
namespace {

using namespace std::chrono_literals;
using strid::test::Folder;
using testing::HasSubstr;
using window::TimeWindows;

Schema trades() {
    return Schema({{"at", {Kind::time}},
                   {"symbol", {Kind::text}},
                   {"price", {Kind::decimal, 2}},
                   {"volume", {Kind::int64}},
                   {"note", {Kind::int64}}});
}
Schema without_notes() {
    const Schema all = trades();
    return Schema(std::vector<Field>(all.fields().begin(), all.fields().end() - 1));
}
/// The notes are no numbers: they must not be parsed.
constexpr const char* trades_csv =
    "at,symbol,price,volume,note\n"
    "0,A,1.50,1,x\n"
    "9000,B,2.00,,x\n"
    "4000,A,0.75,2,x\n"
    "12000,A,1.00,4,x\n"
    "3000,A,9.00,9,x\n"
    "31000,,3.00,5,x\n";

WindowSpec by_symbol() {
    return {.keys = {"symbol"},
            .windows = TimeWindows::tumbling(10s),
            .aggregates = parse_aggregates("count, sum(volume) as volume, min(price), max(note)")};
}

TEST(PlanWindows, FromAFileToFiles) {
    const Folder folder;
    WindowSpec spec = by_symbol();
    spec.aggregates.pop_back();
    const Plan plan = Plan::read_csv(folder.write("in.csv", trades_csv), trades())
                          .event_time("at", 2s)
                          .window(spec)
                          .late_csv(folder.file("late.csv"))
                          .write_csv(folder.file("out.csv"));
    // Of late rows all columns are wanted, so that the notes are read.
    EXPECT_THROW((void)run(plan), OperatorError);
    const RunReport report = run(Plan::read_csv(folder.file("in.csv"), without_notes())
                                     .event_time("at", 2s)
                                     .window(spec)
                                     .late_csv(folder.file("late.csv"))
                                     .write_csv(folder.file("out.csv")));
    EXPECT_EQ(folder.read("out.csv"),
              "symbol,window_start,window_end,count,volume,min(price)\n"
              "A,1970-01-01T00:00:00Z,1970-01-01T00:00:10Z,2,3,0.75\n"
              "B,1970-01-01T00:00:00Z,1970-01-01T00:00:10Z,1,,2.00\n"
              "A,1970-01-01T00:00:10Z,1970-01-01T00:00:20Z,1,4,1.00\n"
              ",1970-01-01T00:00:30Z,1970-01-01T00:00:40Z,1,5,3.00\n");
    EXPECT_EQ(folder.read("late.csv"),
              "at,symbol,price,volume\n"
              "1970-01-01T00:00:03Z,A,9.00,9\n");
    EXPECT_EQ(report.find("compute")->records_late, 1);
}

TEST(PlanWindows, ParseOnlyTheirColumns) {
    const Plan plan = Plan::read_csv("in.csv", trades())
                          .event_time("at", 2s)
                          .project({{"when", col("at")},
                                    {"symbol", col("symbol")},
                                    {"price", col("price")},
                                    {"volume", col("volume")},
                                    {"note", col("note") + 1}})
                          .deduplicate({"symbol"}, 1s)
                          .window(by_symbol())
                          .filter(col("count") > 1)
                          .project({{"volume", col("volume")}, {"day", col("window_start")}});
    EXPECT_EQ(plan.explain(),
              "read in.csv: at time, symbol text, volume int64 (3 of 5 columns)\n"
              "event time at, disorder 2s\n"
              "project at as when, symbol, volume\n"
              "deduplicate symbol within 1s of when\n"
              "window tumbling 10s of when by symbol: count, sum(volume) as volume\n"
              "filter count > 1\n"
              "project volume, window_start as day\n");
}

// Windows over the results of windows, by the end of those.
TEST(PlanWindows, OverWindows) {
    const Folder folder;
    WindowSpec longer{.windows = TimeWindows::tumbling(20s),
                      .aggregates = parse_aggregates("max(volume) as most, count as keys")};
    std::vector<test::Row> rows;
    WindowSpec spec = by_symbol();
    spec.aggregates.pop_back();
    (void)run(Plan::read_csv(folder.write("in.csv", trades_csv), trades())
                  .event_time("at", Duration::max())
                  .window(spec)
                  .project({{"last", col("window_end") - std::chrono::nanoseconds(1)},
                            {"volume", col("volume")}})
                  .event_time("last")
                  .window(longer),
              [&rows](const Chunk& chunk) {
                  for (test::Row& row : test::rows_of(chunk)) rows.push_back(std::move(row));
              });
    const auto seconds = [](std::int64_t count) { return test::Value(count * 1'000'000'000); };
    const std::vector<test::Row> expected{
        {seconds(0), seconds(20), test::Value(std::int64_t{12}), test::Value(std::int64_t{3})},
        {seconds(20), seconds(40), test::Value(std::int64_t{5}), test::Value(std::int64_t{1})}};
    EXPECT_EQ(rows, expected);
}

TEST(PlanWindows, AreRefusedWhenTheyAreAdded) {
    const Plan read = Plan::read_csv("in.csv", trades());
    const auto refused = [](const auto& add) {
        try {
            (void)add();
        } catch (const GraphError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(refused([&] { return read.window(by_symbol()); }), HasSubstr("no event time"));
    EXPECT_THAT(refused([&] { return read.deduplicate({"symbol"}, 1s); }),
                HasSubstr("no event time"));
    EXPECT_THAT(refused([&] { return read.event_time("note"); }), HasSubstr("'note' is int64"));
    const Plan timed = read.event_time("at");
    EXPECT_THAT(refused([&] {
                    return timed
                        .project({{"symbol", col("symbol")},
                                  {"at", col("at") + Duration{1}},
                                  {"volume", col("volume")},
                                  {"price", col("price")},
                                  {"note", col("note")}})
                        .window(by_symbol());
                }),
                HasSubstr("no event time"));
    EXPECT_THAT(refused([&] { return timed.window(by_symbol()).window(by_symbol()); }),
                HasSubstr("no event time"));
    EXPECT_THAT(refused([&] { return timed.late_csv("late.csv"); }), HasSubstr("late_csv"));
    EXPECT_THAT(
        refused([&] {
            return timed.deduplicate({"symbol"}, 1s).late_csv("late.csv").window(by_symbol());
        }),
        HasSubstr("of one step alone"));
}

TEST(PlanWindows, RowsWithoutATimeAreFaults) {
    const Folder folder;
    const Plan plan = Plan::read_csv(folder.write("in.csv",
                                                  "at,symbol,price,volume,note\n"
                                                  "5,A,1,1,1\n,B,1,1,1\n6,A,1,1,1\n"),
                                     trades())
                          .event_time("at")
                          .window(by_symbol());
    try {
        (void)run(plan, [](const Chunk&) {});
        FAIL();
    } catch (const OperatorError& error) {
        EXPECT_THAT(error.what(), HasSubstr("the event time 'at' is NULL (row 2 of its chunk)"));
    }
    std::size_t rows = 0;
    (void)run(plan.on_fault(OnFault::null), [&rows](const Chunk& chunk) { rows += chunk.rows(); });
    EXPECT_EQ(rows, 1);
}

// The steps as operators of a graph: the watermark passes between them as that of any stream.
TEST(PlanWindows, InAGraph) {
    const Folder folder;
    const Schema schema = without_notes();
    WindowSpec spec = by_symbol();
    spec.time = "at";
    spec.aggregates.pop_back();
    Graph graph{"windows"};
    auto [results, late] =
        graph.source(csv_chunks(folder.write("in.csv", std::string(trades_csv)), schema))
            .apply(timed_step(event_time("at", 2s, schema)))
            .separate()
            .apply(step(windowed(spec, schema)), late_apart);
    std::size_t rows = 0;
    std::size_t late_rows = 0;
    std::move(results).sink([&rows](const Chunk& chunk) { rows += chunk.rows(); });
    std::move(late).sink([&late_rows](const Chunk& chunk) { late_rows += chunk.rows(); });
    run(graph);
    EXPECT_EQ(rows, 4);
    EXPECT_EQ(late_rows, 1);
}

// Of two inputs the slower one says what is complete, and each row meets the watermark of its own.
TEST(PlanWindows, InputsThatMeet) {
    const Schema schema({{"at", {Kind::time}}, {"key", {Kind::int64}}});
    WindowSpec spec{.keys = {"key"},
                    .windows = TimeWindows::sliding(10s, 5s),
                    .aggregates = parse_aggregates("count"),
                    .time = "at"};
    for (const auto seed : strid::test::seeds(24)) {
        std::mt19937_64 random(seed);
        const Folder folder;
        std::map<test::Row, std::int64_t> counts;
        const auto file = [&](const char* name, std::int64_t key) {
            std::string text = "at,key\n";
            std::int64_t now = 0;
            for (auto rows = random() % 3'000; rows != 0; --rows) {
                now += static_cast<std::int64_t>(random() % 200);
                const std::int64_t at = now - static_cast<std::int64_t>(random() % 1'000);
                text += fmt::format("{},{}\n", at, key);
                constexpr std::int64_t slide = 5'000;
                const std::int64_t last = (at + 1'000'000) / slide * slide - 1'000'000;
                for (const std::int64_t start : {last - slide, last}) {
                    ++counts[{key, start * 1'000'000, (start + 10'000) * 1'000'000}];
                }
            }
            return csv_chunks(folder.write(name, text), schema);
        };
        Graph graph{"two inputs"};
        auto one = graph.source(file("one.csv", 1)).apply(timed_step(event_time("at", 1s, schema)));
        auto two = graph.source(file("two.csv", 2)).apply(timed_step(event_time("at", 1s, schema)));
        std::map<test::Row, std::int64_t> found;
        std::move(one)
            .merge(std::move(two))
            .apply(step(windowed(spec, schema)))
            .sink([&found](const Chunk& chunk) {
                for (test::Row& row : test::rows_of(chunk)) {
                    found[{row[0], row[1], row[2]}] += std::get<std::int64_t>(row[3]);
                }
            });
        RunOptions options;
        options.seed = seed;
        if (seed % 2 == 0) options.mode = RunOptions::Mode::simulation;
        run(graph, options);
        ASSERT_EQ(found, counts) << seed;
    }
}

}  // namespace
}  // namespace strid::table
