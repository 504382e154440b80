// SPDX-License-Identifier: Apache-2.0
//
// Windows and joins of times at the limits of what a time can be.
#include <atomic>
#include <limits>
#include <memory>
#include <vector>

#include <strid/window/fold.hpp>

#include "windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

const auto side = on(&Event::key, &Event::time);

/// Records at both ends of what a time can be, and in the middle.
std::vector<Event> events_at_the_limits() {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::vector<Event> events;
    for (const std::int64_t time : {least, least + 1, least + 39, least + 1'000, std::int64_t{0},
                                    most - 1'000, most - 39, most - 1}) {
        for (std::uint32_t key = 0; key < 3; ++key) events.push_back({key, at(time), 1});
    }
    return events;
}

TEST(LimitsOfTime, EveryRecordIsInAWindowOfItsOwnTime) {
    const auto events = events_at_the_limits();
    const auto counted = [&](const auto& windows, std::uint64_t seed) {
        Graph graph{"limits"};
        auto all = std::make_shared<std::atomic<std::uint64_t>>(0);
        stream_of(graph, events)
            .key_by<&Event::key>()
            .window(windows, &Event::time, window::count())
            .sink([all](const auto& row) {
                EXPECT_LE(row.window.start, row.window.end);
                *all += row.value;
            });
        const RunReport report = run(graph, run_options(seed));
        return *all + late_in(report);
    };
    for (const std::uint64_t seed : test::seeds(8)) {
        EXPECT_EQ(counted(TimeWindows::tumbling(100ns), seed), events.size()) << "seed " << seed;
        EXPECT_EQ(counted(SessionWindows::with_gap(40ns), seed), events.size()) << "seed " << seed;
        EXPECT_GE(counted(sliding(100, 25), seed), events.size()) << "seed " << seed;
    }
}

template <class F>
std::vector<Row> sums_at_the_limits(const TimeWindows& windows, const F& function,
                                    std::uint64_t seed) {
    std::vector<Row> rows;
    for (const auto& result :
         whole_stream(events_at_the_limits(), run_options(seed), [&](auto&& stream) {
             return std::move(stream).template key_by<&Event::key>().window(windows, &Event::time,
                                                                            function);
         })) {
        rows.emplace_back(result.key, result.window.start.ns(), result.window.end.ns(),
                          static_cast<double>(result.value));
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

/// Windows of a nanosecond have the numbers of the times themselves.
TEST(LimitsOfTime, PanesTreesAndFoldsAgreeThere) {
    const auto value = [](const Event& event) { return event.value; };
    const auto sum = window::sum<Event>(value);
    const auto fold = window::fold<Event>(
        std::int64_t{0}, [](std::int64_t& total, const Event& event) { total += event.value; });
    for (const std::uint64_t seed : test::seeds(2)) {
        for (const auto& windows :
             {sliding(1, 1), sliding(10, 10), sliding(10, 1), sliding(3, 7)}) {
            const auto rows = sums_at_the_limits(windows, sum, seed);
            if (windows.slide() == 1ns && windows.length() == 1ns) {
                EXPECT_EQ(rows.size(), events_at_the_limits().size());
            }
            EXPECT_EQ(sums_at_the_limits(windows, window::kept_in<window::PaneTree>(sum), seed),
                      rows);
            EXPECT_EQ(sums_at_the_limits(windows, fold, seed), rows);
        }
    }
}

TEST(LimitsOfTime, JoinsPairWhatIsNearThere) {
    const auto events = events_at_the_limits();
    std::uint64_t expected_pairs = 0;
    for (const Event& a : events) {
        for (const Event& b : events) {
            if (a.key != b.key || (a.time.ns() < 0) != (b.time.ns() < 0)) continue;
            if (std::abs(a.time.ns() - b.time.ns()) <= 40) ++expected_pairs;
        }
    }
    for (const std::uint64_t seed : test::seeds(8)) {
        Graph graph{"limits"};
        auto pairs = std::make_shared<std::atomic<std::uint64_t>>(0);
        interval_join(stream_of(graph, events), stream_of(graph, events), side, side,
                      {{-40ns}, {40ns}},
                      [](const Event& a, const Event& b) { return a.value + b.value; })
            .sink([pairs](std::int64_t) { ++*pairs; });
        run(graph, run_options(seed));
        EXPECT_EQ(*pairs, expected_pairs) << "seed " << seed;
    }
}

}  // namespace
}  // namespace strid
