// SPDX-License-Identifier: Apache-2.0
//
// A pattern between the doors of a graph: its results leave though no record comes, and when
// nothing is taken from it no more goes in than its queues hold.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <strid/pattern/pattern_operator.hpp>

#include "../test_sources.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using pattern::pattern_operator;

/// Takes a tenth of a second.
constexpr std::uint64_t slow = 1'000'001;
/// Takes until the gate is open, and nothing comes of it.
constexpr std::uint64_t gated = 1'000'000;
std::atomic<bool> gate_is_open{true};

/// n, so many times as n % 4 says.
const auto copies = pattern::node<std::uint64_t>([](std::uint64_t n, auto& emit) {
    if (n == slow) std::this_thread::sleep_for(100ms);
    while (n == gated && !gate_is_open.load(std::memory_order_relaxed)) {
        std::this_thread::sleep_for(1ms);
    }
    for (std::uint64_t i = 0; i < n % 4; ++i) emit(n);
});

using Numbers = std::pair<Inlet<std::uint64_t>, Outlet<std::uint64_t>>;

Numbers doors_of(Graph& graph, std::size_t inlet_records) {
    auto [inlet, numbers] = graph.inlet<std::uint64_t>(inlet_records);
    const auto twice = [](std::uint64_t n) { return 2 * n; };
    const auto both = pattern::pipeline(pattern::farm(copies, {.workers = 2}),
                                        pattern::farm(twice, {.workers = 2}));
    auto outlet = std::move(numbers)
                      .apply(pattern_operator(both, {.lane_tasks = 4}), {.name = "copy"})
                      .separate()
                      .outlet(4);
    return {std::move(inlet), std::move(outlet)};
}

struct Doors {
    explicit Doors(std::size_t inlet_records = 4) : both(doors_of(graph, inlet_records)) {}

    /// Pushes 0, 1, ... while there is room. How many.
    std::uint64_t fill() {
        std::uint64_t pushed = 0;
        for (int refused = 0; refused < 50;) {
            if (inlet.try_push(pushed)) {
                ++pushed;
                refused = 0;
            } else {
                ++refused;
                std::this_thread::sleep_for(1ms);
            }
        }
        return pushed;
    }
    /// Takes what comes to the end: the sum.
    std::uint64_t drain() {
        std::uint64_t sum = 0;
        while (const auto result = outlet.pop()) sum += *result;
        return sum;
    }

    Graph graph{"doors"};
    Numbers both;
    Inlet<std::uint64_t>& inlet = both.first;
    Outlet<std::uint64_t>& outlet = both.second;
};

TEST(PatternDoors, ResultsLeaveThoughNoRecordComes) {
    for (const RunOptions& options :
         {RunOptions{.workers = 1}, RunOptions{.workers = 2},
          RunOptions{.mode = RunOptions::Mode::simulation}, RunOptions{.perturb = true}}) {
        Doors doors;
        auto running = start(doors.graph, options);
        for (std::uint64_t n = 0; n < 400; ++n) {
            ASSERT_TRUE(doors.inlet.push(n));
            for (std::uint64_t i = 0; i < n % 4; ++i) ASSERT_EQ(doors.outlet.pop(), 2 * n);
        }
        doors.inlet.close();
        EXPECT_FALSE(doors.outlet.pop());
        running.wait();
    }
}

/// The sum of the results of 0, 1, ...
std::uint64_t sum_of(std::uint64_t count) {
    std::uint64_t sum = 0;
    for (std::uint64_t n = 0; n < count; ++n) sum += n % 4 * 2 * n;
    return sum;
}

TEST(PatternDoors, WhatIsInTheGraphIsBounded) {
    for (const std::size_t workers : {1U, 2U}) {
        Doors doors;
        auto running = start(doors.graph, {.workers = workers, .perturb = true});
        const std::uint64_t pushed = doors.fill();
        EXPECT_LT(pushed, 1'000U);  // some 100 fill all queues and batches
        doors.inlet.close();
        EXPECT_EQ(doors.drain(), sum_of(pushed));
        running.wait();
    }
}

TEST(PatternDoors, AStopDrainsThePatternThatIsFull) {
    Doors doors;
    auto running = start(doors.graph, {.workers = 2, .perturb = true});
    const std::uint64_t pushed = doors.fill();
    running.stop();
    std::this_thread::sleep_for(10ms);
    EXPECT_EQ(doors.drain(), sum_of(pushed));
    running.wait();
}

TEST(PatternDoors, NoRecordOfABatchIsBegunWhereThePatternHasNoRoom) {
    Doors doors{5'000};
    gate_is_open.store(false);
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(doors.inlet.push(gated));  // for both replicas
    for (std::uint64_t n = 0; n < 4'000; ++n) ASSERT_TRUE(doors.inlet.push(n));
    auto running = start(doors.graph, {.workers = 3});
    const auto begun = [&running] { return running.report().find("copy")->records_in; };
    while (begun() == 0) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(50ms);
    EXPECT_LE(begun(), 16U);
    running.stop();  // which it outlasts
    std::this_thread::sleep_for(10ms);
    EXPECT_LE(begun(), 16U);
    gate_is_open.store(true);
    EXPECT_EQ(doors.drain(), sum_of(4'000));
    running.wait();
}

// Both while records may come and at the end of the stream.
TEST(PatternDoors, TheOperatorSleepsWhileThePatternWorks) {
    for (const RunOptions& options :
         {RunOptions{.workers = 2}, RunOptions{.mode = RunOptions::Mode::dedicated}}) {
        Doors doors;
        auto running = start(doors.graph, options);
        const std::clock_t began = std::clock();
        ASSERT_TRUE(doors.inlet.push(slow));
        ASSERT_EQ(doors.outlet.pop(), 2 * slow);
        for (int i = 0; i < 3; ++i) ASSERT_TRUE(doors.inlet.push(slow));
        doors.inlet.close();
        const RunReport report = running.wait();
        EXPECT_LT(static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC, 0.05);
        for (const SegmentReport& segment : report.segments) {
            EXPECT_LT(segment.refused_ns, 50'000'000U);  // it waits for what comes, not for room
        }
    }
}

}  // namespace
}  // namespace strid
