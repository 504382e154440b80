// SPDX-License-Identifier: Apache-2.0
//
// No allocation per chunk: this program counts every call of operator new. A file is read twice, by
// the same source and operators behind it, once with ten times the rows.
#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <strid/memory/recycling.hpp>
#include <strid/table/csv_chunks.hpp>
#include <strid/table/table_operator.hpp>

#include "../connector/drive.hpp"
#include "../support/counting_new.hpp"
#include "../support/perturbed.hpp"

namespace strid::table {
namespace {

using strid::test::allocations;

/// The last operator: counts rows.
struct Counted final : ChunkOutput {
    void emit(Chunk&& chunk) override { rows += chunk.rows(); }
    std::uint64_t rows = 0;
};
/// Hands chunks on.
struct Into final : ChunkOutput {
    Into(TableOperator& next_one, ChunkOutput& behind) : next(next_one), output(behind) {}
    void emit(Chunk&& chunk) override { next.process(std::move(chunk), output); }
    TableOperator& next;
    ChunkOutput& output;
};
/// The emitter of the source.
struct Emit {
    bool operator()(Chunk&& chunk) {
        output.emit(std::move(chunk));
        return true;
    }
    void keep_alive(const memory::TextReference& /*text*/) {}
    void ingress_at(std::int64_t /*ns*/) {}
    void count_malformed(std::uint64_t /*rows*/) {}
    ChunkOutput& output;
};

std::uint64_t allocations_for(std::size_t rows) {
    const strid::test::Folder folder;
    std::string text = "symbol,price,volume\n";
    for (std::size_t i = 0; i != rows; ++i) {
        text += "AB," + std::to_string(i % 400) + ".25," + std::to_string(i % 90) + '\n';
    }
    const std::string path = folder.write("in.csv", text);
    const Schema schema(
        {{"symbol", {Kind::text}}, {"price", {Kind::float64}}, {"volume", {Kind::int64}}});
    const auto filtering = filter(col("price") > 100 && col("symbol") == "AB", schema);
    const auto computing =
        project({{"label", concat(col("symbol"), "!")}, {"turnover", col("price") * col("volume")}},
                schema);
    Counted counted;
    Into into_project(*computing, counted);
    Into into_filter(*filtering, into_project);
    Emit emit{into_filter};
    auto source = csv_chunks(path, schema);
    const memory::RecyclingScope scope;
    const std::uint64_t before = allocations.load();
    strid::test::open(source, {});
    while (source.poll(emit, 100) != SourceStatus::finished) {
    }
    EXPECT_GT(counted.rows, rows / 2);
    return allocations.load() - before;
}

TEST(TableAllocations, AreNoneForAChunk) {
    if (strid::test::perturbed) GTEST_SKIP() << "perturbed";
    (void)allocations_for(40'000);  // what is made once in a program
    const std::uint64_t few = allocations_for(40'000);
    const std::uint64_t many = allocations_for(400'000);
    EXPECT_LE(many, few + 10) << "176 chunks more";
}

}  // namespace
}  // namespace strid::table
