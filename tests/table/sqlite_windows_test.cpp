// SPDX-License-Identifier: Apache-2.0
//
// Windows of plans over files: the answers are those of SQLite, which groups the rows of the file
// by the keys and by the bounds of the windows that it computes from the times.
#include <gtest/gtest.h>

#ifdef STRID_HAS_SQLITE

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <strid/table/csv_chunks.hpp>
#include <strid/table/plan.hpp>

#include "../support/folder.hpp"
#include "../support/seeds.hpp"
#include "sqlite_database.hpp"
#include "table_rows.hpp"

namespace strid::table {
namespace {

using test::Row;
using test::Value;
using window::TimeWindows;

Schema readings() {
    return Schema({{"sensor", {Kind::text}},
                   {"room", {Kind::int64}},
                   {"at", {Kind::time}},
                   {"i", {Kind::int64}},
                   {"f", {Kind::float64}},
                   {"t", {Kind::text}}});
}

constexpr std::int64_t ms = 1'000'000;

std::string csv_of(const std::vector<Row>& rows) {
    std::string text = "sensor,room,at,i,f,t\n";
    for (const Row& row : rows) {
        for (std::size_t i = 0; i != row.size(); ++i) {
            if (i != 0) text += ',';
            if (const auto* integer = std::get_if<std::int64_t>(&row[i])) {
                text += std::to_string(i == 2 ? *integer / ms : *integer);
            } else if (const auto* number = std::get_if<double>(&row[i])) {
                text += fmt::format("{}", *number);
            } else if (const auto* word = std::get_if<std::string>(&row[i])) {
                text += word->empty() ? "\"\"" : *word;
            }
        }
        text += '\n';
    }
    return text;
}

TEST(TableWindows, AnswerAsSqlite) {
    constexpr const char* keys_of[] = {"", "sensor", "sensor, room", "room, t"};
    std::size_t rows_seen = 0;
    for (const auto seed : strid::test::seeds(40)) {
        std::mt19937_64 random(seed);
        const Schema schema = readings();
        auto rows = test::random_rows(schema, random() % 3'000, random, seed % 3 * 4);
        for (Row& row : rows) {
            row[2] = static_cast<std::int64_t>(random() % 5'000) * ms;
            if (std::holds_alternative<std::int64_t>(row[1])) {
                row[1] = static_cast<std::int64_t>(random() % 4);
            }
        }
        const auto slide = static_cast<std::int64_t>(1 + random() % 900);
        const auto length = slide * static_cast<std::int64_t>(seed % 2 == 0 ? 1 : 1 + random() % 4);
        const std::string keys = keys_of[random() % std::size(keys_of)];
        const bool filters = random() % 2 == 0;

        WindowSpec spec{.windows =
                            TimeWindows::sliding(Duration{length * ms}, Duration{slide * ms})};
        std::vector<Kind> kinds;
        for (std::size_t at = 0; at < keys.size();) {
            const std::size_t end = std::min(keys.find(", ", at), keys.size());
            spec.keys.push_back(keys.substr(at, end - at));
            kinds.push_back(schema[schema.place_of(spec.keys.back())].type.kind);
            at = end + 2;
        }
        spec.aggregates = parse_aggregates(
            "count, count(i) as ci, sum(i) as si, sum(f) as sf, min(i) as mi, max(f) as mf, "
            "min(t) as mt, avg(i) as ai, avg(f) as af, count(distinct t) as ct");
        kinds.insert(kinds.end(), {Kind::int64, Kind::int64, Kind::int64, Kind::int64, Kind::int64,
                                   Kind::float64, Kind::int64, Kind::float64, Kind::text,
                                   Kind::float64, Kind::float64, Kind::int64});
        test::Database database;
        database.make_table(schema, rows);
        // Each row is in length / slide windows, of which the first begins at a multiple of it.
        const std::string comma = keys.empty() ? "" : keys + ", ";
        auto expected = database.rows(
            fmt::format("with recursive back(n) as (select 0 union all select n + 1 from back "
                        "where n + 1 < {0}) select {1} (at / {2} - n) * {2} as start, "
                        "(at / {2} - n) * {2} + {3}, count(*), count(i), sum(i), sum(f), min(i), "
                        "max(f), min(t), avg(i), avg(f), count(distinct t) from t, back {4} "
                        "group by {1} start",
                        length / slide, comma, slide * ms, length * ms,
                        filters ? "where i > -50" : ""),
            kinds);
        const strid::test::Folder folder;
        Plan plan = Plan::read_csv(folder.write("in.csv", csv_of(rows)), schema)
                        .event_time("at", Duration{5'000 * ms});
        if (filters) plan = plan.filter(col("i") > -50);
        std::vector<Row> found;
        const RunReport report = run(plan.window(spec), [&found](const Chunk& chunk) {
            for (Row& row : test::rows_of(chunk)) found.push_back(std::move(row));
        });
        std::ranges::sort(found);
        std::ranges::sort(expected);
        ASSERT_EQ(found, expected) << plan.window(spec).explain() << seed;
        ASSERT_EQ(report.find("compute")->records_late, 0);
        rows_seen += found.size();
    }
    EXPECT_GT(rows_seen, 1'000);
}

}  // namespace
}  // namespace strid::table

#endif
