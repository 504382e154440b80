// SPDX-License-Identifier: Apache-2.0
//
// Chunks against rows that are kept as plain values: random contents, rows that are kept, copies
// that share blocks, codecs with cut and damaged bytes, and where the memory is.
#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/state/codec.hpp>
#include <strid/table/chunk.hpp>

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

Schema all_kinds() {
    return Schema({{"truth", {Kind::boolean}},
                   {"count", {Kind::int64}},
                   {"price", {Kind::float64}},
                   {"amount", {Kind::decimal, 2}},
                   {"name", {Kind::text}},
                   {"at", {Kind::time}},
                   {"length", {Kind::interval}}});
}

std::vector<std::uint16_t> some_of(std::size_t rows, std::mt19937_64& random) {
    const auto share = 1 + random() % 40;
    std::vector<std::uint16_t> kept;
    for (std::size_t i = 0; i != rows; ++i) {
        if (random() % 40 < share) kept.push_back(static_cast<std::uint16_t>(i));
    }
    return kept;
}

TEST(TableSchema, RefusesWhatIsNone) {
    const auto of = [](std::vector<Field> fields) { return Schema(std::move(fields)); };
    EXPECT_THROW(of({{"a", {}}, {"a", {}}}), GraphError);
    EXPECT_THROW(of({Field{"", {}}}), GraphError);
    EXPECT_THROW(of({Field{"a", {Kind::decimal, 19}}}), GraphError);
    const Schema schema = all_kinds();
    EXPECT_EQ(schema.find("name"), 4);
    EXPECT_EQ(schema.find("Name"), std::nullopt);
    try {
        (void)schema.place_of("prize");
        FAIL();
    } catch (const GraphError& error) {
        EXPECT_THAT(error.what(),
                    HasSubstr("no column 'prize'; there are: truth bool, count int6"));
        EXPECT_THAT(error.what(), HasSubstr("amount decimal(2)"));
    }
}

TEST(TableSchema, HasManyColumns) {
    std::vector<Field> fields(40'000);
    for (std::size_t i = 0; i != fields.size(); ++i) fields[i].name = "c" + std::to_string(i);
    const Schema schema(fields);
    for (std::size_t i = 0; i < fields.size(); i += 97) {
        ASSERT_EQ(schema.find(fields[i].name), i);
    }
    EXPECT_EQ(schema.find("c"), std::nullopt);
    fields[37'777].name = "c3";
    EXPECT_THROW((void)Schema(fields), GraphError);
}

// Texts keep what they were read from alive: without a column of texts nothing needs it.
TEST(TableChunk, LetsGoOfTextsWithTheirColumns) {
    const Schema schema({{"count", {Kind::int64}}, {"name", {Kind::text}}});
    ChunkMemory memory;
    Chunk chunk = chunk_of(schema, {{Value(std::int64_t{1}), Value("a")}}, memory);
    const std::size_t before = chunk.heap_bytes();
    const std::size_t places[] = {0};
    chunk.keep_columns(Schema({schema[0]}), places);
    EXPECT_GT(before, chunk.heap_bytes() + 60'000);
    EXPECT_EQ(rows_of(chunk), (std::vector<Row>{{Value(std::int64_t{1})}}));
}

TEST(TableSchema, TypesHaveNames) {
    const Schema schema = all_kinds();
    for (const Field& field : schema.fields()) {
        EXPECT_EQ(type_named(name_of(field.type)), field.type) << name_of(field.type);
    }
    EXPECT_EQ(type_named("BIGINT"), Type{Kind::int64});
    EXPECT_EQ(type_named("Decimal(18)"), (Type{Kind::decimal, 18}));
    EXPECT_EQ(type_named("decimal(19)"), std::nullopt);
    EXPECT_EQ(type_named("decimal(2"), std::nullopt);
    EXPECT_EQ(type_named("int65"), std::nullopt);
}

TEST(TableChunk, KeepsRandomRows) {
    const Schema schema = all_kinds();
    ChunkMemory memory;
    for (const auto seed : strid::test::seeds(40)) {
        std::mt19937_64 random(seed);
        const std::vector<Row> rows = random_rows(schema, random() % 2049, random, seed % 4);
        Chunk chunk = chunk_of(schema, rows, memory);
        ASSERT_EQ(rows_of(chunk), rows) << seed;
        const auto kept = some_of(rows.size(), random);
        std::vector<Row> expected;
        for (const auto row : kept) expected.push_back(rows[row]);
        const Chunk shared = random() % 2 == 0 ? chunk : Chunk{};
        chunk.keep_rows(kept, memory);
        ASSERT_EQ(rows_of(chunk), expected) << seed;
        if (shared.rows() != 0) {
            ASSERT_EQ(rows_of(shared), rows) << "a copy has changed; " << seed;
        }
        ChunkMemory others;
        const Chunk copy = chunk.copied(others);
        chunk = Chunk{};
        ASSERT_EQ(rows_of(copy), expected) << seed;
    }
}

TEST(TableChunk, GoesThroughItsCodec) {
    const Schema schema = all_kinds();
    ChunkMemory memory;
    for (const auto seed : strid::test::seeds(20)) {
        std::mt19937_64 random(seed);
        const std::vector<Row> rows = random_rows(schema, random() % 300, random, seed % 4);
        const Chunk chunk = chunk_of(schema, rows, memory);
        const std::vector<std::byte> bytes = state::bytes_of(chunk);
        Chunk loaded;
        StateReader reader{bytes};
        state::load(reader, loaded);
        reader.expect_end();
        ASSERT_EQ(loaded.schema(), schema);
        ASSERT_EQ(rows_of(loaded), rows) << seed;
        ASSERT_EQ(state::bytes_of(loaded), bytes) << seed;
    }
}

TEST(TableChunk, ManyColumnsOfTextGoThroughTheCodec) {
    std::vector<Field> fields;
    for (int i = 0; i != 20; ++i) fields.push_back({"t" + std::to_string(i), {Kind::text}});
    const Schema schema(std::move(fields));
    std::mt19937_64 random(strid::test::first_seed());
    ChunkMemory memory;
    const std::vector<Row> rows = random_rows(schema, 100, random, 5);
    const auto bytes = state::bytes_of(chunk_of(schema, rows, memory));
    StateReader reader{bytes};
    Chunk loaded;
    state::load(reader, loaded);
    EXPECT_EQ(rows_of(loaded), rows);
}

TEST(TableChunk, CutBytesAreAnError) {
    std::mt19937_64 random(strid::test::first_seed());
    ChunkMemory memory;
    const auto bytes =
        state::bytes_of(chunk_of(all_kinds(), random_rows(all_kinds(), 9, random, 3), memory));
    for (std::size_t size = 0; size != bytes.size(); ++size) {
        StateReader reader{std::span(bytes).first(size)};
        Chunk loaded;
        EXPECT_THROW(state::load(reader, loaded), StateError) << size;
    }
}

// Whatever is loaded can be used: sums are read to be seen by the address sanitizer.
TEST(TableChunk, DamagedBytesAreAnErrorOrAChunk) {
    ChunkMemory memory;
    std::mt19937_64 random(strid::test::first_seed());
    const auto bytes =
        state::bytes_of(chunk_of(all_kinds(), random_rows(all_kinds(), 70, random, 3), memory));
    std::size_t refused = 0;
    constexpr std::size_t tries = 2000;
    for (std::size_t i = 0; i != tries; ++i) {
        auto damaged = bytes;
        for (auto changes = 1 + random() % 3; changes != 0; --changes) {
            // Mostly near the front, where lengths and kinds are.
            const std::size_t range = random() % 2 == 0 ? 200 : damaged.size();
            damaged[random() % range] = static_cast<std::byte>(random());
        }
        StateReader reader{damaged};
        Chunk loaded;
        try {
            state::load(reader, loaded);
            reader.expect_end();
            EXPECT_LE(rows_of(loaded).size(), chunk_rows_max);
        } catch (const StateError&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, tries / 10);
}

TEST(TableChunk, FewRowsTakeLittleMemory) {
    ChunkMemory memory;
    const Schema schema({{"count", {Kind::int64}}, {"name", {Kind::text}}});
    EXPECT_LT(Chunk(schema, memory, small_rows_max).heap_bytes(), 3000);
    EXPECT_GT(Chunk(schema, memory).heap_bytes(), 48 * 1024);
}

TEST(TableChunk, BlocksGoHomeFromAnyThreadAndOutliveTheirPool) {
    auto memory = std::make_unique<ChunkMemory>(4);
    const Schema schema({{"count", {Kind::int64}}});
    for (int round = 0; round != 100; ++round) {
        std::vector<Chunk> chunks;
        for (int i = 0; i != 4; ++i) chunks.emplace_back(schema, *memory);
        std::thread([moved = std::move(chunks)]() mutable { moved.clear(); }).join();
    }
    EXPECT_EQ(memory->counters().debt, 0);
    EXPECT_EQ(memory->counters().leased, 400);
    std::vector<Chunk> more;
    for (int i = 0; i != 6; ++i) more.emplace_back(schema, *memory);
    EXPECT_EQ(memory->counters().debt, 2);
    memory.reset();
    more.front().column(0).values<std::int64_t>()[2047] = 1;
}

TEST(TableChunk, HoldsAFewArenas) {
    ChunkMemory memory;
    Chunk chunk;
    const auto first = memory.text(10);
    EXPECT_TRUE(chunk.hold(first));
    EXPECT_TRUE(chunk.hold(first));
    for (std::size_t i = 1; i != chunk_texts_max; ++i) EXPECT_TRUE(chunk.hold(memory.text(10)));
    EXPECT_TRUE(chunk.hold(first));
    EXPECT_FALSE(chunk.hold(memory.text(10)));
    Chunk other;
    EXPECT_TRUE(other.hold_texts_of(chunk));
    Chunk third;
    EXPECT_TRUE(third.hold(memory.text(1'000'000)));
    EXPECT_FALSE(third.hold_texts_of(chunk));
}

TEST(TableChunk, KeepsTheWatermarksOfItsRows) {
    const Schema schema({{"i", {Kind::int64}}});
    ChunkMemory memory;
    std::vector<Row> rows;
    for (std::int64_t i = 0; i != 300; ++i) rows.push_back({Value(i)});
    Chunk chunk = chunk_of(schema, rows, memory);
    Column watermarks = memory.column(Kind::time, rows.size());
    for (std::int64_t i = 0; i != 300; ++i) watermarks.values<std::int64_t>()[i] = i - 1'000;
    chunk.set_watermarks(std::move(watermarks));
    const auto check = [](const Chunk& one) {
        ASSERT_NE(one.watermarks().capacity(), 0);
        for (std::size_t row = 0; row != one.rows(); ++row) {
            EXPECT_EQ(one.watermarks().values<std::int64_t>()[row],
                      one.column(0).values<std::int64_t>()[row] - 1'000);
        }
    };
    for (const std::size_t step : {2UL, 40UL}) {
        Chunk part = chunk;
        std::vector<std::uint16_t> kept;
        for (std::size_t row = 1; row < part.rows(); row += step) {
            kept.push_back(static_cast<std::uint16_t>(row));
        }
        part.keep_rows(kept, memory);
        check(part);
        check(part.copied(memory));
        const auto bytes = state::bytes_of(part);
        StateReader reader{bytes};
        check(state::loaded<Chunk>(reader));
        reader.expect_end();
    }
    check(chunk);
}

}  // namespace
}  // namespace strid::table
