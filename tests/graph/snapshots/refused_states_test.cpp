// SPDX-License-Identifier: Apache-2.0
//
// Snapshots with which a graph cannot go on: of a struct that had other members, and of a state
// that is not by key for more replicas.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include <strid/strid.hpp>

#include "crash.hpp"

namespace strid::test {
namespace {

RunOptions simulated() {
    return {.mode = RunOptions::Mode::simulation, .seed = 1};
}

/// A table by key of structs, of which a run has stored a snapshot before it crashed.
struct Total {
    std::int64_t sum = 0;
    std::uint32_t records = 0;
};
auto totals_of(Graph& graph, const std::shared_ptr<World>& world, OperatorOptions options) {
    return graph.source(NumbersInWorld(world, 0, 50, 3), {.parallelism = 1})
        .key_by<&Number::key>()
        .accumulate(
            Total{},
            [](Total& total, const Number& one) {
                total.sum += one.number;
                ++total.records;
            },
            Emit::every_update, std::move(options));
}
Graph totals(const std::shared_ptr<World>& world) {
    Graph graph{"totals"};
    totals_of(graph, world, {.name = "totals", .parallelism = 1})
        .sink([world](const Keyed<std::uint32_t, Total>&) { world->call(); });
    return graph;
}

/// The sum of all that a replica got, whatever the key.
struct AddsUp {
    static constexpr FunctionTraits traits{.hears = events<>};
    std::int64_t operator()(const Keyed<std::uint32_t, Total>& one) { return sum += one.value.sum; }
    auto state() { return std::tie(sum); }
    std::int64_t sum = 0;
};
Graph sums_of_totals(const std::shared_ptr<World>& world, std::size_t replicas) {
    Graph graph{"sums"};
    totals_of(graph, world, {.parallelism = 2})
        .map(AddsUp{}, {.name = "sums", .parallelism = replicas})
        .sink([](const std::int64_t&) {}, {.parallelism = 1});
    return graph;
}

TEST(Snapshots, AStateBehindNoKeyIsNotCopiedIntoMoreReplicas) {
    const auto world = std::make_shared<World>();
    RunOptions options = simulated();
    options.snapshots.store = std::make_shared<StoreInWorld>(world);
    world->begin_process(40);
    EXPECT_THROW((void)run(sums_of_totals(world, 1), options), std::runtime_error);
    world->begin_process(0);
    try {
        (void)run(sums_of_totals(world, 2), options);
        FAIL() << "it goes on";
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("'sums'"), std::string::npos) << text;
        EXPECT_NE(text.find("not by key"), std::string::npos) << text;
    }
    EXPECT_NO_THROW((void)run(sums_of_totals(world, 1), options));
}

TEST(Snapshots, OfAStructWithOtherMembersAreRefused) {
    const auto world = std::make_shared<World>();
    RunOptions options = simulated();
    options.snapshots.store = std::make_shared<StoreInWorld>(world);
    world->begin_process(60);
    EXPECT_THROW((void)run(totals(world), options), std::runtime_error);
    ASSERT_FALSE(world->snapshots.empty());
    const std::string members = "Total{long, unsigned int}";
    std::size_t changed = 0;
    for (Snapshot& snapshot : world->snapshots) {
        for (SnapshotNode& node : snapshot.description.nodes) {
            for (std::string& type : node.types) {
                const auto at = type.find(members);
                if (at == std::string::npos) continue;
                type.replace(at, members.size(), "Total{long, float}");
                ++changed;
            }
        }
    }
    ASSERT_NE(changed, 0U);
    world->begin_process(0);
    try {
        (void)run(totals(world), options);
        FAIL() << "it is loaded";
    } catch (const GraphError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("the state of operator 'totals'"), std::string::npos) << text;
        EXPECT_NE(text.find("Total{long, float}"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace strid::test
