// SPDX-License-Identifier: Apache-2.0
//
// Chunks in graphs with several readers and replicas: branches that share blocks do not see each
// other's changes. The rows of both branches together are those of the file.
#include <algorithm>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <strid/stream/graph.hpp>
#include <strid/table/csv_chunks.hpp>
#include <strid/table/step.hpp>

#include "../support/folder.hpp"
#include "../support/seeds.hpp"
#include "table_rows.hpp"

namespace strid::table {
namespace {

struct Kept {
    void operator()(const Chunk& chunk) const {
        const std::scoped_lock lock{*mutex};
        for (test::Row& row : test::rows_of(chunk)) rows->push_back(std::move(row));
    }
    std::vector<test::Row>* rows;
    std::mutex* mutex;
};

TEST(TablesInGraphs, BranchesShareChunks) {
    const Schema schema({{"id", {Kind::int64}}, {"name", {Kind::text}}, {"x", {Kind::float64}}});
    for (const auto seed : strid::test::seeds(12)) {
        std::mt19937_64 random(seed);
        const strid::test::Folder folder;
        std::string text = "id,name,x\n";
        std::vector<test::Row> all;
        for (auto i = static_cast<std::int64_t>(random() % 9'000); i != 0; --i) {
            const auto x = static_cast<double>(random() % 100) / 4;
            const std::string name(random() % 6, 'n');
            text += fmt::format("{},{},{}\n", i, name, x);
            all.push_back({i, name.empty() ? test::Value{} : test::Value(name), x});
        }
        CsvOptions csv{.header = CsvHeader::skip};
        csv.text.chunk_bytes = 200 + random() % 40'000;
        csv.text.chunks = 4 + random() % 30;
        std::vector<test::Row> rows;
        std::mutex mutex;
        Graph graph{"branches"};
        auto [low, rest] =
            graph.source(csv_chunks(folder.write("in.csv", text), schema, csv)).tee<2>();
        const std::size_t replicas = 1 + seed % 3;
        std::move(low)
            .apply(step(filter(col("x") < 10, schema)), {.parallelism = replicas})
            .sink(Kept{&rows, &mutex});
        std::move(rest)
            .apply(step(filter(col("x") >= 10, schema)))
            .apply(step(project({{"id", col("id")}, {"name", col("name")}, {"x", col("x") + 0}},
                                schema)),
                   {.parallelism = replicas})
            .sink(Kept{&rows, &mutex});
        RunOptions options{.workers = 1 + random() % 3};
        options.seed = seed;
        if (seed % 2 == 0) {
            options.mode = RunOptions::Mode::simulation;
            options.workers = 0;
        }
        const RunReport report = run(graph, options);
        std::ranges::sort(rows);
        std::ranges::sort(all);
        ASSERT_EQ(rows, all) << seed;
    }
}

}  // namespace
}  // namespace strid::table
