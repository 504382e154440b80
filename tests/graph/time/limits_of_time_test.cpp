// SPDX-License-Identifier: Apache-2.0
//
// Windows, timers and order of times at the limits of what a time can be. Joins are in
// limits_of_joins_test.cpp.
#include "limits_of_time.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <vector>

#include <strid/operator/time_order.hpp>
#include <strid/window/aggregates/fold.hpp>

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

TEST(LimitsOfTime, EveryRecordIsInAWindowOfItsOwnTime) {
    const auto events = events_at_the_limits();
    const auto counted = [&](const auto& windows, std::uint64_t seed) {
        Graph graph{"limits"};
        auto all = std::make_shared<std::atomic<std::uint64_t>>(0);
        stream_of(graph, events)
            .key_by<&Event::key>()
            .window(windows, window::count())
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
        // Whose number would pass its limits is late.
        for (const std::int64_t offset : {0, 5, -5}) {
            EXPECT_EQ(counted(sliding(1, 1, offset), seed), events.size()) << "seed " << seed;
        }
    }
}

/// A session has its records in it, or ends where time does, and is never empty: also that of the
/// last moment, whose end would lie behind it.
TEST(LimitsOfTime, NoSessionIsEmptyThere) {
    const auto events = events_at_the_limits();
    for (const std::int64_t gap :
         {std::int64_t{1}, std::int64_t{40}, std::numeric_limits<std::int64_t>::max()}) {
        for (const std::uint64_t seed : test::seeds(4)) {
            const auto results = whole_stream(events, run_options(seed), [&](auto stream) {
                return std::move(stream).template key_by<&Event::key>().window(
                    SessionWindows::with_gap(Duration{gap}), window::count());
            });
            std::uint64_t last_ones = 0;
            for (const auto& result : results) {
                EXPECT_LT(result.window.start, result.window.end) << "gap " << gap;
                if (result.window.end == EventTime::latest()) ++last_ones;
            }
            EXPECT_EQ(last_ones, 3U) << "gap " << gap << ": one of each key";
        }
    }
}

template <class F>
std::vector<Row> sums_at_the_limits(const TimeWindows& windows, const F& function,
                                    std::uint64_t seed) {
    std::vector<Row> rows;
    for (const auto& result :
         whole_stream(events_at_the_limits(), run_options(seed), [&](auto&& stream) {
             return std::move(stream).template key_by<&Event::key>().window(windows, function);
         })) {
        rows.emplace_back(result.key, result.window.start.ns(), result.window.end.ns(),
                          static_cast<double>(result.value));
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

/// Windows of a nanosecond have the numbers of the times themselves, but for the last one.
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
                double total = 0;
                for (const auto& [key, start, end, value] : rows) total += value;
                EXPECT_EQ(total, events_at_the_limits().size());
            }
            EXPECT_EQ(sums_at_the_limits(windows, window::kept_in<window::PaneTree>(sum), seed),
                      rows);
            EXPECT_EQ(sums_at_the_limits(windows, fold, seed), rows);
        }
    }
}

/// Asks for a timer at the time of the record, and for one before all time.
struct AtTheLimits {
    std::uint32_t key = 0;

    void operator()(const Event& event, Timers& timers, Emitter<Event>&) {
        key = event.key;
        timers.at(event.time);
        timers.at(EventTime::earliest() - Duration{1});
    }
    void on_timer(EventTime time, Timers&, Emitter<Event>& emit) { emit({key, time, 0}); }
};

/// At each record's time one, the earliest and the latest among them; a timer for a time that has
/// passed fires each time.
TEST(LimitsOfTime, TimersFireThere) {
    const auto events = events_at_the_limits();
    std::vector<Event> expected;
    for (const Event& event : events) {
        expected.push_back({event.key, EventTime::earliest(), 0});
        if (event.time != EventTime::earliest()) expected.push_back({event.key, event.time, 0});
    }
    std::sort(expected.begin(), expected.end());
    for (const std::uint64_t seed : test::seeds(12)) {
        Graph graph{"limits"};
        auto fired = std::make_shared<Collected<Event>>();
        stream_of(graph, events)
            .key_by<&Event::key>()
            .process<Event>(AtTheLimits{})
            .sink([fired](const Event& event) { fired->add(event); });
        run(graph, run_options(seed));
        auto answer = fired->records();
        std::sort(answer.begin(), answer.end());
        EXPECT_EQ(answer, expected) << "seed " << seed;
    }
}

/// The events with neighbours in time changed about.
std::vector<Event> in_disorder() {
    auto events = events_at_the_limits();
    for (std::size_t i = 0; i + 6 <= 9; i += 6) {
        std::swap_ranges(events.begin() + static_cast<std::ptrdiff_t>(i),
                         events.begin() + static_cast<std::ptrdiff_t>(i) + 3,
                         events.begin() + static_cast<std::ptrdiff_t>(i) + 3);
    }
    std::swap_ranges(events.end() - 6, events.end() - 3, events.end() - 3);
    return events;
}

TEST(LimitsOfTime, StreamsAreInOrderThere) {
    const auto events = in_disorder();
    auto expected = events;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const Event& a, const Event& b) { return a.time < b.time; });
    for (const std::uint64_t seed : test::seeds(12)) {
        Graph graph{"limits"};
        auto rows = std::make_shared<Collected<Event>>();
        graph.source(replay(events))
            .event_time<&Event::time>(BoundedDisorder{50ns})
            .apply(in_order_of_time())
            .sink([rows](const Event& event) { rows->add(event); });
        const RunReport report = run(graph, run_options(seed));
        EXPECT_EQ(rows->records(), expected) << "seed " << seed;
        EXPECT_EQ(late_in(report), 0U) << "seed " << seed;
    }
    for (const std::uint64_t seed : test::seeds(12)) {
        Graph graph{"limits"};
        auto rows = std::make_shared<Collected<Event>>();
        auto dropped = std::make_shared<Collected<Event>>();
        auto [records, late] =
            graph.source(replay(events)).apply(k_slack(field<&Event::time>), late_apart);
        std::move(records).sink([rows](const Event& event) { rows->add(event); });
        std::move(late).sink([dropped](const Event& event) { dropped->add(event); });
        const RunReport report = run(graph, run_options(seed));
        auto all = rows->records();
        EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                                   [](const Event& a, const Event& b) { return a.time < b.time; }))
            << "seed " << seed;
        const auto late_ones = dropped->records();
        EXPECT_EQ(late_in(report), late_ones.size()) << "seed " << seed;
        all.insert(all.end(), late_ones.begin(), late_ones.end());
        std::sort(all.begin(), all.end());
        auto every = events;
        std::sort(every.begin(), every.end());
        EXPECT_EQ(all, every) << "seed " << seed;
    }
}

}  // namespace
}  // namespace strid
