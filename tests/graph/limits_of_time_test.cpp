// SPDX-License-Identifier: Apache-2.0
//
// Windows and joins of times at the limits of what a time can be.
#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <vector>

#include <strid/window/aggregates/fold.hpp>

#include "joins.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

constexpr auto same_key = on<&Event::key>();

/// Records at both ends of what a time can be, and in the middle.
std::vector<Event> events_at_the_limits() {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::vector<Event> events;
    for (const std::int64_t time : {least, least + 1, least + 39, least + 1'000, std::int64_t{0},
                                    most - 1'000, most - 39, most - 1, most}) {
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

/// At each record's time one, the earliest and the latest among them; what has been when it is
/// asked for fires each time.
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
            .in_order_of_time()
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
            graph.source(replay(events)).k_slack(field<&Event::time>, late_apart);
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
