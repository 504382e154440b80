// SPDX-License-Identifier: Apache-2.0
//
// Where the threads of patterns and teams run, by the affinity that the system reports for them,
// against the cores that the topology has.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <strid/base/error.hpp>
#include <strid/base/topology.hpp>
#include <strid/pattern/parallel_for.hpp>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

/// By the system itself.
std::vector<int> processors_of_this_thread() {
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    std::vector<int> processors;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (CPU_ISSET(processor, &set)) processors.push_back(processor);
    }
    return processors;
}

/// For each thread that a team of so many runs iterations on: its processors, but for the caller.
std::multiset<std::vector<int>> places_of_team(const TeamOptions& options) {
    Team team(options);
    std::multiset<std::vector<int>> places;
    std::mutex mutex;
    std::atomic<std::size_t> inside{0};
    const std::thread::id caller = std::this_thread::get_id();
    parallel_for(team, 0, team.threads(),
                 [&](std::size_t) {
                     // Until each thread has one.
                     for (++inside; inside != team.threads();) std::this_thread::yield();
                     if (std::this_thread::get_id() == caller) return;
                     const std::lock_guard lock(mutex);
                     places.insert(processors_of_this_thread());
                 },
                 {.schedule = Schedule::dynamic});
    return places;
}

TEST(Placement, ThreadsOfATeamStayOnCores) {
    const Topology topology = Topology::detect();
    const auto cores = topology.cores();
    for (const std::size_t threads : {std::size_t{2}, cores.size(), cores.size() + 2}) {
        std::multiset<std::vector<int>> expected;
        for (std::size_t i = 1; i < threads; ++i) {
            expected.insert({cores[i % cores.size()].processor});
        }
        EXPECT_EQ(places_of_team({.threads = threads, .pin = true}), expected);
    }
    for (const auto& place : places_of_team({.threads = 2})) {
        EXPECT_EQ(place, processors_of_this_thread()) << "any, as the program itself";
    }
}

/// Each step of the pattern by its thread's processors.
std::set<std::vector<int>> places_of_pattern(const Options& options) {
    std::set<std::vector<int>> places;
    std::mutex mutex;
    const auto look = [&](std::uint64_t n) {
        const std::lock_guard lock(mutex);
        places.insert(processors_of_this_thread());
        return n;
    };
    run(pipeline(numbers(200), farm(look, FarmOptions{.workers = 2}),
                 [&](std::uint64_t n) { (void)look(n); }),
        options);
    return places;
}

TEST(Placement, NodesOfAPatternStayOnCores) {
    const Topology topology = Topology::detect();
    for (const auto mode :
         {ExecutionOptions::Mode::cooperative, ExecutionOptions::Mode::dedicated}) {
        for (const auto& place : places_of_pattern({.execution = {.mode = mode, .pin = true}})) {
            ASSERT_EQ(place.size(), 1U);
            EXPECT_TRUE(
                std::any_of(topology.cores().begin(), topology.cores().end(),
                            [&](const Core& core) { return core.processor == place.front(); }));
        }
    }
}

/// An affinity names a processor for each node, in the order of explain().
TEST(Placement, NodesOfAPatternRunWhereTheAffinitySays) {
    const Topology topology = Topology::detect();
    for (const int processor :
         {topology.cores().front().processor, topology.cores().back().processor}) {
        for (const auto mode :
             {ExecutionOptions::Mode::cooperative, ExecutionOptions::Mode::dedicated}) {
            const std::vector<int> all(4, processor);
            EXPECT_EQ(places_of_pattern({.execution = {.mode = mode, .affinity = all}}),
                      (std::set<std::vector<int>>{{processor}}));
        }
    }
    try {
        (void)places_of_pattern({.execution = {.affinity = {0}}});
        FAIL();
    } catch (const GraphError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("names 1 processors for 4 tasks"));
    }
}

}  // namespace
}  // namespace strid
