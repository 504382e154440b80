// SPDX-License-Identifier: Apache-2.0
//
// Joins of times at the limits of what a time can be.
#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <vector>

#include "../time/limits_of_time.hpp"
#include "joins.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

constexpr auto same_key = on<&Event::key>();

TEST(LimitsOfTime, IntervalJoinsPairWhatIsNearThere) {
    const auto events = events_at_the_limits();
    std::uint64_t expected_pairs = 0;
    for (const Event& a : events) {
        for (const Event& b : events) {
            if (a.key != b.key || (a.time.ns() < 0) != (b.time.ns() < 0)) continue;
            if (std::abs(a.time.ns() - b.time.ns()) <= 40) ++expected_pairs;
        }
    }
    for (const std::uint64_t seed : test::seeds(12)) {
        for (const Shared shared : {Shared::by_key, Shared::by_window}) {
            Graph graph{"limits"};
            auto pairs = std::make_shared<std::atomic<std::uint64_t>>(0);
            const auto count = [pairs](std::int64_t) { ++*pairs; };
            constexpr JoinInterval interval = within(-40ns, 40ns);
            const auto add = [](const Event& a, const Event& b) { return a.value + b.value; };
            auto left = stream_of(graph, events);
            auto right = stream_of(graph, events);
            if (shared == Shared::by_key) {
                std::move(left).join(std::move(right), same_key, interval, add).sink(count);
            } else {
                std::move(left)
                    .join(std::move(right), same_key, interval, add, share::farmed)
                    .sink(count);
            }
            const RunReport report = run(graph, run_options(seed));
            EXPECT_EQ(*pairs, expected_pairs) << "seed " << seed;
            EXPECT_EQ(late_in(report), 0U) << "seed " << seed;
        }
    }
}

/// The window of a time, by what the numbers of windows may be.
std::int64_t window_of(EventTime time, std::int64_t length) {
    const std::int64_t number = time.ns() / length - (time.ns() % length < 0 ? 1 : 0);
    return std::min(number, std::numeric_limits<std::int64_t>::max() - 1);
}

std::uint64_t pairs_in_windows(const TimeWindows& windows, Shared shared, LateBy late_by,
                               std::uint64_t seed) {
    const auto events = events_at_the_limits();
    Graph graph{"limits"};
    auto pairs = std::make_shared<std::atomic<std::uint64_t>>(0);
    const auto count = [pairs](const auto& row) {
        EXPECT_LE(row.window.start, row.window.end);
        ++*pairs;
    };
    const auto add = [](const Event& a, const Event& b) { return a.value + b.value; };
    auto left = stream_of(graph, events);
    auto right = stream_of(graph, events);
    if (shared == Shared::by_key) {
        std::move(left)
            .join(std::move(right), same_key, windows, add, {.late_by = late_by})
            .sink(count);
    } else {
        std::move(left)
            .join(std::move(right), same_key, windows, add, share::farmed, {.late_by = late_by})
            .sink(count);
    }
    EXPECT_EQ(late_in(run(graph, run_options(seed))), 0U) << "seed " << seed;
    return *pairs;
}

TEST(LimitsOfTime, WindowJoinsPairWhatIsInOneWindowThere) {
    const auto events = events_at_the_limits();
    for (const std::int64_t length : {1, 100}) {
        std::uint64_t expected_pairs = 0;
        for (const Event& a : events) {
            for (const Event& b : events) {
                if (a.key != b.key) continue;
                if (window_of(a.time, length) == window_of(b.time, length)) ++expected_pairs;
            }
        }
        for (const std::uint64_t seed : test::seeds(12)) {
            for (const Shared shared : {Shared::by_key, Shared::by_window}) {
                for (const LateBy late_by : {LateBy::slowest_input, LateBy::own_input}) {
                    EXPECT_EQ(pairs_in_windows(sliding(length, length), shared, late_by, seed),
                              expected_pairs)
                        << "seed " << seed << ", windows of " << length;
                }
            }
        }
    }
}

}  // namespace
}  // namespace strid
