// SPDX-License-Identifier: Apache-2.0
//
// Windows that do not end with their last record: streams that end with open windows whose results
// are not wanted; watermarks that only some records carry.
#include <atomic>
#include <optional>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

std::vector<Event> ordered_events(std::uint64_t seed, std::size_t count) {
    return random_events(seed, {.disorder = 0, .too_late = 0}, count);
}

// ---- open windows that are dropped -------------------------------------------------------------

using Rows = std::vector<Row>;

template <class Wire>
Rows rows_when_dropped(const std::vector<Event>& events, const Wire& wire, std::uint64_t seed) {
    Graph graph{"dropped"};
    auto rows = std::make_shared<Collected<Row>>();
    wire(stream_of(graph, events), WindowOptions{.at_end = OpenWindows::drop}).sink(ToRows{rows});
    run(graph, run_options(seed));
    Rows result = rows->records();
    std::sort(result.begin(), result.end());
    return result;
}

template <class Wire>
void drops_what_is_open(const char* what, const TimeWindows& windows, const Wire& wire) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = ordered_events(seed, 1'000);
        Rows expected_rows = expected(events, windows, 0ns, 0ns, sum_of).rows;
        const std::size_t all = expected_rows.size();
        std::erase_if(expected_rows,
                      [&](const Row& row) { return std::get<2>(row) > events.back().time.ns(); });
        ASSERT_LT(expected_rows.size(), all) << "nothing is open at the end";
        ASSERT_EQ(rows_when_dropped(events, wire, seed), expected_rows)
            << what << ", seed " << seed;
    }
}

TEST(OpenWindows, OfTimeAreDroppedWhereAskedForInEveryDistribution) {
    const TimeWindows windows = sliding(400, 100);
    drops_what_is_open("by key", windows, [&](auto stream, const WindowOptions& options) {
        return std::move(stream).template key_by<&Event::key>().window(windows, sum, options);
    });
    drops_what_is_open("farmed", windows, [&](auto stream, const WindowOptions& options) {
        return std::move(stream).template key_by<&Event::key>().window(windows, sum, share::farmed,
                                                                       options);
    });
    drops_what_is_open("combined", windows, [&](auto stream, const WindowOptions& options) {
        return std::move(stream).template key_by<&Event::key>().window(windows, sum,
                                                                       share::combined, options);
    });
    drops_what_is_open("paned", windows, [&](auto stream, const WindowOptions& options) {
        return std::move(stream).template key_by<&Event::key>().window(windows, sum, share::paned,
                                                                       options);
    });
    drops_what_is_open("map-reduce", windows, [&](auto stream, const WindowOptions& options) {
        return std::move(stream).template key_by<&Event::key>().window(windows, sum,
                                                                       share::map_reduce, options);
    });
}

/// Whichever of two sources ends first.
TEST(OpenWindows, AreThoseThatTheSourceWhichWentFurthestLeavesOpen) {
    const TimeWindows windows = sliding(400, 100);
    for (const std::uint64_t seed : test::seeds(12)) {
        std::vector<Event> short_one;
        std::vector<Event> long_one;
        std::vector<Event> both;
        for (const Event& event : ordered_events(seed, 1'000)) {
            const bool is_short = event.value % 2 == 0;
            if (is_short && short_one.size() == 100) continue;
            (is_short ? short_one : long_one).push_back(event);
            both.push_back(event);
        }
        Rows expected_rows = expected(both, windows, 0ns, 0ns, sum_of).rows;
        std::erase_if(expected_rows,
                      [&](const Row& row) { return std::get<2>(row) > long_one.back().time.ns(); });
        Graph graph{"dropped"};
        auto rows = std::make_shared<Collected<Row>>();
        auto first = stream_of(graph, seed % 2 == 0 ? short_one : long_one);
        auto second = stream_of(graph, seed % 2 == 0 ? long_one : short_one);
        std::move(first)
            .merge(std::move(second))
            .key_by<&Event::key>()
            .window(windows, sum, {.at_end = OpenWindows::drop})
            .sink(ToRows{rows});
        run(graph, run_options(seed));
        Rows answer = rows->records();
        std::sort(answer.begin(), answer.end());
        ASSERT_EQ(answer, expected_rows) << "seed " << seed;
    }
}

TEST(OpenWindows, OfSessionsAreDroppedWhereAskedFor) {
    const auto sessions = SessionWindows::with_gap(40ns);
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = ordered_events(seed, 1'000);
        Rows expected_rows = expected(events, sessions, 0ns, 0ns, sum_of).rows;
        const std::size_t all = expected_rows.size();
        std::erase_if(expected_rows,
                      [&](const Row& row) { return std::get<2>(row) >= events.back().time.ns(); });
        ASSERT_LT(expected_rows.size(), all) << "nothing is open at the end";
        const auto wire = [&](auto stream, const WindowOptions& options) {
            return std::move(stream).template key_by<&Event::key>().window(sessions, sum, options);
        };
        ASSERT_EQ(rows_when_dropped(events, wire, seed), expected_rows) << "seed " << seed;
    }
}

TEST(OpenWindows, OfCountsAndOfEverythingAreDroppedWhereAskedFor) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = ordered_events(seed, 1'000);
        std::map<std::uint32_t, std::uint64_t> records;
        for (const Event& event : events) ++records[event.key];
        std::uint64_t whole = 0;
        for (const auto& [key, count] : records) whole += count / 30;
        const WindowOptions options{.at_end = OpenWindows::drop};
        Graph graph{"dropped"};
        auto fired = std::make_shared<std::atomic<std::uint64_t>>(0);
        stream_of(graph, events)
            .key_by<&Event::key>()
            .window(window::CountWindows::tumbling(30), window::count(), options)
            .sink([fired](const auto& row) {
                EXPECT_EQ(row.value, 30U);
                ++*fired;
            });
        auto never = std::make_shared<std::atomic<std::uint64_t>>(0);
        stream_of(graph, events)
            .key_by<&Event::key>()
            .window(window::global([](const Event&) { return window::Trigger::wait; }), sum,
                    options)
            .sink([never](const auto&) { ++*never; });
        run(graph, run_options(seed));
        EXPECT_EQ(*fired, whole) << "seed " << seed;
        EXPECT_EQ(*never, 0U) << "seed " << seed;
    }
}

TEST(PunctuatedTime, FiresTheWindowsOfABoundThatSomeRecordsCarry) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {.too_late = 0}, event_count);
        const auto asserted = watermarks(events, 50ns);
        struct Marked {
            Event event;
            std::optional<EventTime> mark;
        };
        std::vector<Marked> marked;
        for (std::size_t i = 0; i < events.size(); ++i) {
            marked.push_back({events[i], i % 16 == 15 ? std::optional{asserted[i]} : std::nullopt});
        }
        const auto windows = sliding(100, 30);
        Graph graph{"punctuated"};
        auto rows = std::make_shared<Collected<Row>>();
        graph.source(replay(marked))
            .event_time([](const Marked& one) { return one.event.time; },
                        PunctuatedTime{[](const Marked& one) { return one.mark; }})
            .key_by([](const Marked& one) { return one.event.key; })
            .window(windows, window::sum<Marked>([](const Marked& one) { return one.event.value; }))
            .sink(ToRows{rows});
        const RunReport report = run(graph, run_options(seed));
        Rows answer = rows->records();
        std::sort(answer.begin(), answer.end());
        ASSERT_EQ(answer, expected(events, windows, 50ns, 0ns, sum_of).rows) << "seed " << seed;
        ASSERT_EQ(late_in(report), 0U) << "seed " << seed;
    }
}

}  // namespace
}  // namespace strid
