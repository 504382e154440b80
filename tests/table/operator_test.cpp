// SPDX-License-Identifier: Apache-2.0
//
// Operators of tables behind their adapter: alone in a harness, with the expectations of plain
// loops over rows, and in graphs.
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/table/step.hpp>
#include <strid/test/harness.hpp>

#include "../support/seeds.hpp"
#include "table_rows.hpp"

namespace strid::table {
namespace {

using test::chunk_of;
using test::random_rows;
using test::Row;
using test::rows_of;
using test::Value;
using testing::HasSubstr;

Schema trades() {
    return Schema(
        {{"price", {Kind::float64}}, {"volume", {Kind::int64}}, {"symbol", {Kind::text}}});
}

std::vector<Row> all_rows(const std::vector<Chunk>& chunks) {
    std::vector<Row> rows;
    for (const Chunk& chunk : chunks) {
        for (Row& row : rows_of(chunk)) rows.push_back(std::move(row));
    }
    return rows;
}

/// Chunks of random sizes, and their rows.
struct Stream {
    explicit Stream(std::uint64_t seed) : random(seed) {
        for (auto count = 1 + random() % 6; count != 0; --count) {
            const std::size_t size = 1 + random() % (random() % 2 == 0 ? 64 : 2048);
            const auto rows = random_rows(trades(), size, random, seed % 3 * 5);
            chunks.push_back(chunk_of(trades(), rows, memory));
            all.insert(all.end(), rows.begin(), rows.end());
        }
    }
    std::mt19937_64 random;
    ChunkMemory memory;
    std::vector<Chunk> chunks;
    std::vector<Row> all;
};

TEST(TableOperators, FilterKeepsRowsAndDropsColumns) {
    for (const auto seed : strid::test::seeds(12)) {
        Stream stream(seed);
        strid::test::Harness harness{step(filter(col("price") > 10 && col("symbol").is_not_null(),
                                                 trades(), {"symbol", "volume"}))};
        const std::vector<Chunk> shared = seed % 2 == 0 ? stream.chunks : std::vector<Chunk>{};
        harness.batch(std::span(stream.chunks));
        std::vector<Row> expected;
        for (const Row& row : stream.all) {
            const auto* const price = std::get_if<double>(&row[0]);
            const bool has_symbol = !std::holds_alternative<std::monostate>(row[2]);
            if (price != nullptr && *price > 10 && has_symbol) {
                expected.push_back({row[2], row[1]});
            }
        }
        ASSERT_EQ(all_rows(harness.emitted()), expected) << seed;
        if (!shared.empty()) {
            ASSERT_EQ(all_rows(shared), stream.all) << "copies have changed";
        }
        EXPECT_EQ(harness.counter("rows in"), stream.all.size());
        EXPECT_EQ(harness.counter("rows out"), expected.size());
    }
}

TEST(TableOperators, ProjectComputesColumns) {
    for (const auto seed : strid::test::seeds(12)) {
        Stream stream(seed);
        strid::test::Harness harness{step(project({{"symbol", col("symbol")},
                                                   {"label", concat(col("symbol"), "!")},
                                                   {"twice", col("volume") * 2},
                                                   {"one", 1},
                                                   {"none", Expression()}},
                                                  trades()))};
        harness.batch(std::span(stream.chunks));
        stream.chunks.clear();
        std::vector<Row> expected;
        for (const Row& row : stream.all) {
            const auto* const symbol = std::get_if<std::string>(&row[2]);
            const auto* const volume = std::get_if<std::int64_t>(&row[1]);
            expected.push_back({row[2], symbol == nullptr ? Value{} : Value(*symbol + "!"),
                                volume == nullptr ? Value{} : Value(*volume * 2),
                                Value(std::int64_t{1}), Value{}});
        }
        ASSERT_EQ(all_rows(harness.emitted()), expected) << seed;
    }
}

// A row in a thousand does not keep the text of the others.
TEST(TableOperators, FilterLetsGoOfTextsThatFewRowsNeed) {
    ChunkMemory memory;
    std::vector<Row> rows;
    for (std::int64_t i = 0; i != 2'000; ++i) {
        rows.push_back({Value(1.5), Value(i), Value(std::string(200, 's') + std::to_string(i))});
    }
    rows[7][2] = Value{};
    strid::test::Harness harness{step(filter(col("volume") % 1'000 == 7, trades()))};
    for (int round = 0; round != 20; ++round) {
        harness.record(chunk_of(trades(), rows, memory));
        Chunk copy = harness.emitted().back();
        ASSERT_EQ(rows_of(copy), (std::vector<Row>{rows[7], rows[1'007]}));
        EXPECT_LT(copy.heap_bytes(), 80'000);
    }
    const auto kept = all_rows(harness.emitted());
    for (std::size_t i = 0; i != 40; ++i) ASSERT_EQ(kept[i], rows[i % 2 == 0 ? 7 : 1'007]);
}

// More arenas than a chunk holds: texts are copied into one.
TEST(TableOperators, ProjectGathersManyTexts) {
    ChunkMemory memory;
    const std::string long_text(40'000, 'x');
    std::vector<Row> rows;
    for (std::int64_t i = 0; i != 20; ++i) {
        rows.push_back({Value(1.5), Value(i), Value(long_text.substr(0, 5))});
    }
    Chunk chunk = chunk_of(trades(), rows, memory);
    strid::test::Harness harness{step(project(
        {{"long", concat(col("symbol"), concat(long_text, col("volume").as({Kind::text})))}},
        trades()))};
    harness.record(std::move(chunk));
    const auto emitted = harness.take_emitted();
    ASSERT_EQ(emitted.size(), 1);
    for (std::int64_t i = 0; i != 20; ++i) {
        EXPECT_EQ(rows_of(emitted[0])[static_cast<std::size_t>(i)][0],
                  Value("xxxxx" + long_text + std::to_string(i)));
    }
}

TEST(TableOperators, LimitGoesOnFromItsState) {
    for (const auto seed : strid::test::seeds(12)) {
        Stream stream(seed);
        const std::uint64_t rows = stream.random() % (stream.all.size() + 10);
        const auto cut = static_cast<std::ptrdiff_t>(stream.random() % stream.chunks.size());
        std::vector<Chunk> front(stream.chunks.begin(), stream.chunks.begin() + cut);
        std::vector<Chunk> back(stream.chunks.begin() + cut, stream.chunks.end());
        strid::test::Harness first{step(limit(rows, trades()))};
        first.batch(std::span(front));
        auto emitted = all_rows(first.emitted());
        strid::test::Harness second{step(limit(rows, trades()))};
        if (seed % 2 == 0) {
            second.restore(first);
        } else {
            second.restore(first.saved());
        }
        second.batch(std::span(back));
        for (Row& row : all_rows(second.emitted())) emitted.push_back(std::move(row));
        std::vector<Row> expected = stream.all;
        if (expected.size() > rows) expected.resize(rows);
        ASSERT_EQ(emitted, expected) << seed;
    }
}

TEST(TableOperators, FaultsNameTheExpressionAndTheRow) {
    ChunkMemory memory;
    const std::vector<Row> rows{{Value(1.0), Value(std::int64_t{4}), Value("a")},
                                {Value(1.0), Value{}, Value("b")},
                                {Value(1.0), Value(std::int64_t{0}), Value("c")}};
    const Expression quotient = 12 / col("volume");
    strid::test::Harness stops{step(project({{"q", quotient}}, trades()))};
    try {
        stops.record(chunk_of(trades(), rows, memory));
        FAIL();
    } catch (const OperatorError& error) {
        EXPECT_THAT(error.what(),
                    HasSubstr("12 / volume: 12 / 0 divides by zero (row 3 of its chunk)"));
    }
    strid::test::Harness goes_on{step(project({{"q", quotient}}, trades(), OnFault::null))};
    goes_on.record(chunk_of(trades(), rows, memory));
    const std::vector<Row> expected{{Value(std::int64_t{3})}, {Value{}}, {Value{}}};
    EXPECT_EQ(all_rows(goes_on.emitted()), expected);
}

TEST(TableOperators, WrongOnesAreRefusedWhenTheyAreMade) {
    EXPECT_THROW((void)filter(col("price") + 1, trades()), ExpressionError);
    EXPECT_THROW((void)filter(col("prize") > 1, trades()), ExpressionError);
    EXPECT_THROW((void)filter(col("price") > 1, trades(), {"prize"}), GraphError);
    EXPECT_THROW((void)project({{"a", 1}, {"a", 2}}, trades()), GraphError);
    EXPECT_EQ(filter(col("price") > 1, trades())->text(), "filter price > 1");
    EXPECT_EQ(project({{"symbol", col("symbol")}, {"x", col("price") * 2}}, trades())->text(),
              "project symbol, price * 2 as x");
}

}  // namespace
}  // namespace strid::table
