// SPDX-License-Identifier: Apache-2.0
//
// Graphs whose operators are fed by other sources than when their snapshot was taken, one of which
// had ended: no record is lost, and nothing waits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/strid.hpp>

#include "crash.hpp"

namespace strid::test {
namespace {

/// A source and the operator that it feeds, by their names.
struct Wire {
    const char* source;
    std::uint32_t number;
    std::int64_t records;
    const char* fed;
};
std::string text_with_source(const Number& one) {
    return std::to_string(one.source) + " " + std::to_string(one.number);
}
Graph wired(const std::shared_ptr<World>& world, const std::vector<Wire>& wires, bool fused) {
    Graph graph{"wired"};
    const auto file = std::make_shared<FileInWorld>(world);
    for (const Wire& wire : wires) {
        auto source = graph.source(NumbersInWorld(world, wire.number, wire.records, 3),
                                   {.name = wire.source, .parallelism = 1});
        const auto end = [&](auto stream) {
            std::move(stream).sink(WriteInWorld<Number>(world, file, &text_with_source),
                                   {.name = std::string("write-") + wire.fed, .parallelism = 1});
        };
        if (fused) {
            end(std::move(source).map(Passing<Number>{world}, {.name = wire.fed}));
        } else {
            end(std::move(source).rebalance().map(Passing<Number>{world},
                                                  {.name = wire.fed, .parallelism = 2}));
        }
    }
    return graph;
}

/// Whether a node of the last snapshot has ended and another one has not.
bool has_ended_in_part(const World& world) {
    if (world.snapshots.empty()) return false;
    const auto& nodes = world.snapshots.back().description.nodes;
    const auto ended = std::count_if(nodes.begin(), nodes.end(),
                                     [](const SnapshotNode& one) { return one.has_ended; });
    return ended != 0 && static_cast<std::size_t>(ended) != nodes.size();
}

/// The graph crashes when one of its sources has ended. Then the graph `now` has all records, and
/// those of sources that are new. Returns whether it crashed so.
bool expect_all(std::uint64_t seed, const std::vector<Wire>& before, const std::vector<Wire>& now,
                bool fused) {
    const auto world = std::make_shared<World>();
    RunOptions options{.mode = RunOptions::Mode::simulation, .seed = seed};
    options.snapshots.store = std::make_shared<StoreInWorld>(world);
    options.snapshots.allow_lost = true;
    world->begin_process(150 + seed % 50);
    EXPECT_THROW((void)run(wired(world, before, fused), options), std::runtime_error);
    if (!has_ended_in_part(*world)) return false;
    world->begin_process(0);
    (void)run(wired(world, now, fused), options);
    std::set<std::string> expected;
    for (const auto& wires : {before, now}) {
        for (const Wire& wire : wires) {
            for (std::int64_t i = 0; i != wire.records; ++i) {
                expected.insert(std::to_string(wire.number) + " " + std::to_string(i) + "\n");
            }
        }
    }
    EXPECT_EQ(sorted_rows(world->result),
              std::accumulate(expected.begin(), expected.end(), std::string{}));
    EXPECT_EQ(std::count(world->result.begin(), world->result.end(), '\n'),
              static_cast<std::ptrdiff_t>(expected.size()));
    return true;
}

TEST(Snapshots, AnOperatorThatAnotherSourceFeedsHasNotEnded) {
    const Wire a{"a", 0, 3, "x"};
    const Wire b{"b", 1, 100, "y"};
    const std::vector<std::vector<Wire>> changed = {
        {{"b", 1, 100, "x"}, {"a", 0, 3, "y"}},
        {{"c", 2, 40, "x"}, b},  // a new source in the place of the one that has ended
        {{"b", 1, 100, "x"}}};
    int crashes = 0;
    for (const bool fused : {false, true}) {
        for (const std::vector<Wire>& now : changed) {
            for (std::uint64_t seed = 1; seed != 40 && !testing::Test::HasFailure(); ++seed) {
                SCOPED_TRACE(seed);
                crashes += expect_all(seed, {a, b}, now, fused) ? 1 : 0;
            }
        }
    }
    EXPECT_GT(crashes, 50);
}

}  // namespace
}  // namespace strid::test
