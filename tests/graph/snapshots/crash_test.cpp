// SPDX-License-Identifier: Apache-2.0
//
// Runs that crash at any call of any operator, of the store or of the result, and go on from their
// last snapshot until they end, in the simulation: the result is that of a run that was never
// disturbed, and has its name once. The graphs that go on have other numbers of replicas, and some
// operators more or less. Some snapshots have changes only, and some are damaged behind a crash.
#include "crash.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <strid/strid.hpp>

#include "../../support/seeds.hpp"
#include "crash_case.hpp"

namespace strid::test {
namespace {

std::vector<std::string> rows_of(const std::string& text) {
    std::vector<std::string> rows;
    std::istringstream lines(text);
    for (std::string row; std::getline(lines, row);) rows.push_back(row);
    std::sort(rows.begin(), rows.end());
    return rows;
}

/// The rows of one that the other has not, or has fewer times.
std::string difference(const std::vector<std::string>& rows,
                       const std::vector<std::string>& expected) {
    std::string text;
    std::vector<std::string> found;
    std::set_difference(rows.begin(), rows.end(), expected.begin(), expected.end(),
                        std::back_inserter(found));
    for (const std::string& row : found) text += "too many: " + row + "\n";
    found.clear();
    std::set_difference(expected.begin(), expected.end(), rows.begin(), rows.end(),
                        std::back_inserter(found));
    for (const std::string& row : found) text += "missing: " + row + "\n";
    return text;
}

RunOptions simulated(std::uint64_t seed) {
    return {.mode = RunOptions::Mode::simulation, .seed = seed};
}

std::vector<std::string> undisturbed(std::uint64_t seed) {
    const auto world = std::make_shared<World>();
    CrashCase one{seed, world};
    const Graph graph = one.graph();
    (void)run(graph, simulated(seed));
    return rows_of(world->result);
}

struct Disturbances {
    int crashes = 0;
    int of_changes = 0;  // snapshots from which a run went on
    int damaged = 0;     // snapshots behind a crash
};

/// Any of the last chain. The one before stays whole, so that it can be gone on from; not from
/// before the end of the stream, where the result has its name.
void maybe_damage(World& world, std::mt19937_64& random, Disturbances& events) {
    if (world.snapshots.empty()) return;
    const auto& nodes = world.snapshots.back().description.nodes;
    if (std::all_of(nodes.begin(), nodes.end(), [](const auto& one) { return one.has_ended; })) {
        return;
    }
    std::uint64_t number = 0;
    for (const Snapshot& one : world.snapshots) {
        if (one.description.builds_on == 0) number = one.description.number;
    }
    const bool has_two = world.snapshots.front().description.number < number;
    if (!has_two || random() % 3 != 0) return;
    const std::uint64_t last = world.snapshots.back().description.number;
    world.damaged.insert(number + random() % (last - number + 1));
    ++events.damaged;
}

/// Crashes up to six times. Returns how often it did.
int disturbed(std::uint64_t seed, World& world, const std::shared_ptr<World>& shared,
              Disturbances& events) {
    std::mt19937_64 random(seed ^ 0x5eedU);
    const std::size_t changes_max = random() % 6;
    for (int crashes = 0;; ++crashes) {
        world.begin_process(crashes < 6 ? 1 + random() % 250 : 0);
        try {
            CrashCase one{seed, shared, static_cast<std::uint64_t>(crashes)};
            const Graph graph = one.graph();
            RunOptions options = simulated(seed + static_cast<std::uint64_t>(crashes) * 7919);
            options.snapshots.store = std::make_shared<StoreInWorld>(shared, changes_max);
            if (!world.snapshots.empty() && world.snapshots.back().description.builds_on != 0) {
                ++events.of_changes;
            }
            options.snapshots.allow_lost = true;
            (void)run(graph, options);
            if (!world.is_over()) return crashes;
        } catch (const GraphError& error) {
            // It has crashed behind its very end, and is finished.
            EXPECT_NE(std::string(error.what()).find("has reached its end"), std::string::npos)
                << error.what();
            return crashes;
        } catch (const Error& error) {
            EXPECT_TRUE(world.is_over()) << "seed " << seed << ": " << error.what();
            if (!world.is_over()) return crashes;
        } catch (const Crash&) {
        }
        maybe_damage(world, random, events);
    }
}

TEST(Snapshots, CrashesAnywhereLeaveNoTrace) {
    Disturbances events;
    for (const std::uint64_t seed : seeds(2'000)) {
        const auto expected = undisturbed(seed);
        const auto world = std::make_shared<World>();
        events.crashes += disturbed(seed, *world, world, events);
        ASSERT_EQ(difference(rows_of(world->result), expected), "") << "seed " << seed;
        ASSERT_GE(world->commits, 1U);
    }
    std::printf("%d crashes, went on from %d snapshots of changes, %d damaged\n", events.crashes,
                events.of_changes, events.damaged);
    EXPECT_GT(events.crashes, 1'500);
    EXPECT_GT(events.of_changes, 300);
    EXPECT_GT(events.damaged, 100);
}

}  // namespace
}  // namespace strid::test
