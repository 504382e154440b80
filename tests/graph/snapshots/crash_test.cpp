// SPDX-License-Identifier: Apache-2.0
//
// Runs that crash at any call of any operator, of the store or of the result, and go on from their
// last snapshot until they end, in the simulation: the result is that of a run that was never
// disturbed, and has its name once. The graphs that go on have other numbers of replicas, and some
// operators more or less.
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

/// Crashes up to six times. Returns how often it did.
int disturbed(std::uint64_t seed, World& world, const std::shared_ptr<World>& shared) {
    std::mt19937_64 random(seed ^ 0x5eedU);
    for (int crashes = 0;; ++crashes) {
        world.begin_process(crashes < 6 ? 1 + random() % 250 : 0);
        try {
            CrashCase one{seed, shared, static_cast<std::uint64_t>(crashes)};
            const Graph graph = one.graph();
            RunOptions options = simulated(seed + static_cast<std::uint64_t>(crashes) * 7919);
            options.snapshots.store = std::make_shared<StoreInWorld>(shared);
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
    }
}

TEST(Snapshots, CrashesAnywhereLeaveNoTrace) {
    int crashes = 0;
    for (const std::uint64_t seed : seeds(2'000)) {
        const auto expected = undisturbed(seed);
        const auto world = std::make_shared<World>();
        crashes += disturbed(seed, *world, world);
        ASSERT_EQ(difference(rows_of(world->result), expected), "") << "seed " << seed;
        ASSERT_GE(world->commits, 1U);
    }
    std::printf("%d crashes\n", crashes);
    EXPECT_GT(crashes, 1'500);
}

}  // namespace
}  // namespace strid::test
