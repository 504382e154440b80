// SPDX-License-Identifier: Apache-2.0
//
// Records to chunks and back, against the records that went in; and what does not fit.
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/table/records.hpp>
#include <strid/test/harness.hpp>

#include "../support/seeds.hpp"
#include "table_rows.hpp"

namespace strid::table {
namespace {

using testing::HasSubstr;

enum class Side : std::uint8_t { buy, sell };
struct Trade {
    std::string symbol;
    Side side = Side::buy;
    std::int32_t volume = 0;
    std::optional<double> price;
    bool is_own = false;
    EventTime time;
    std::optional<std::string> note;
    bool operator==(const Trade&) const = default;
};
Schema trades() {
    return schema_of<Trade>({"symbol", "side", "volume", "price", "is_own", "time", "note"});
}

TEST(TableRecords, GoThereAndBack) {
    EXPECT_EQ(trades().text(),
              "symbol text, side int64, volume int64, price float64, is_own bool, time time, note "
              "text");
    for (const auto seed : strid::test::seeds(10)) {
        std::mt19937_64 random(seed);
        std::vector<Trade> sent(1 + random() % 5'000);
        for (Trade& trade : sent) {
            trade.symbol = std::string(random() % (seed % 2 == 0 ? 5 : 900), 's');
            trade.side = random() % 2 == 0 ? Side::buy : Side::sell;
            trade.volume = static_cast<std::int32_t>(random());
            trade.is_own = random() % 2 == 0;
            trade.time = EventTime::of_ns(static_cast<std::int64_t>(random() % 1'000'000));
            if (random() % 4 != 0) trade.price = static_cast<double>(random() % 1000) / 4;
            if (random() % 4 != 0) {
                trade.note = std::string(random() % 900, 'n') + std::to_string(random() % 100);
            }
        }
        strid::test::Harness in{to_chunks<Trade>(trades()), strid::test::arriving<Trade>()};
        in.batch(sent);
        strid::test::Harness out{to_records<Trade>(trades()), strid::test::arriving<Chunk>()};
        std::vector<Chunk> chunks = in.take_emitted();
        EXPECT_LE(chunks.size(), sent.size() / 100 + 10) << seed;
        out.batch(std::move(chunks));
        ASSERT_EQ(out.emitted(), sent) << seed;
    }
}

TEST(TableRecords, ValuesThatDoNotFitAreErrors) {
    struct Small {
        std::int8_t number;
        std::string text;
    };
    const Schema schema = schema_of<Small>({"number", "text"});
    ChunkMemory memory;
    const auto fault = [&](const test::Row& row) -> std::string {
        strid::test::Harness out{to_records<Small>(schema), strid::test::arriving<Chunk>()};
        try {
            out.record(test::chunk_of(schema, {row}, memory));
            return "none";
        } catch (const OperatorError& error) {
            return error.what();
        }
    };
    EXPECT_EQ(fault({std::int64_t{127}, "a"}), "none");
    EXPECT_THAT(fault({std::int64_t{128}, "a"}),
                HasSubstr("column 'number', row 1 of its chunk: does not fit its field"));
    EXPECT_THAT(fault({std::int64_t{1}, {}}),
                HasSubstr("column 'text', row 1 of its chunk: is NU"));
    EXPECT_THROW((void)schema_of<Small>({"number"}), GraphError);
    EXPECT_THROW((void)to_chunks<Small>(Schema({{"number", {Kind::int64}}})), GraphError);
    EXPECT_THROW((void)to_records<Small>(Schema({{"a", {Kind::text}}, {"b", {Kind::text}}})),
                 GraphError);
}

}  // namespace
}  // namespace strid::table
