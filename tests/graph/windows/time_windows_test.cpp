// SPDX-License-Identifier: Apache-2.0
//
// Windows of event time in a running graph against the obvious computation (window_oracle.hpp), in
// every mode, with several parallelisms, and under simulation.
#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;

TEST(TimeWindowsInAGraph, SlideWithAnyAlgebra) {
    agrees(sliding(100, 25), sum, sum_of, {});
    agrees(sliding(100, 30, 7), mean, mean_of, {});
    agrees(sliding(1'000, 10), mean, mean_of, {});
}

TEST(TimeWindowsInAGraph, TumbleAndLeaveGaps) {
    agrees(sliding(100, 100), sum, sum_of, {});
    agrees(sliding(30, 70), sum, sum_of, {.step = 40});
    agrees(sliding(1, 1), sum, sum_of, {.keys = 2, .step = 3});
}

TEST(TimeWindowsInAGraph, OneKeyAndManyKeys) {
    agrees(sliding(200, 20), sum, sum_of, {.keys = 1});
    agrees(sliding(200, 20), sum, sum_of, {.keys = 400});
}

TEST(TimeWindowsInAGraph, TimesThatDoNotMoveOrStandFarApart) {
    agrees(sliding(100, 25), sum, sum_of, {.step = 0, .disorder = 0, .too_late = 0, .gap = 0});
    agrees(sliding(100, 25), sum, sum_of, {.step = 5, .gap = 40'000'000'000});
}

TEST(TimeWindowsInAGraph, EverythingIsLateThatCanBe) {
    agrees(sliding(50, 10), sum, sum_of, {.disorder = 300, .too_late = 2'000}, Duration{0});
    agrees(sliding(500, 10), mean, mean_of, {.disorder = 300, .too_late = 2'000}, Duration{0});
}

/// Late records are the same ones however many operators stand between time and windows.
TEST(TimeWindowsInAGraph, WhatIsLateDoesNotDependOnTheWayThere) {
    const auto windows = sliding(100, 25);
    for (const std::uint64_t seed : test::seeds(12)) {
        const auto events = random_events(seed, {}, event_count);
        Graph graph{"hops"};
        auto rows = std::make_shared<Collected<Row>>();
        graph.source(replay(events))
            .event_time<&Event::time>(BoundedDisorder{Duration{50}})
            .separate()
            .filter([](const Event&) { return true; })
            .separate()
            .key_by<&Event::key>()
            .window(windows, sum)
            .sink(ToRows{rows});
        run(graph, run_options(seed));
        auto answer = rows->records();
        std::sort(answer.begin(), answer.end());
        ASSERT_EQ(answer, expected(events, windows, Duration{50}, Duration::zero(), sum_of).rows)
            << "seed " << seed;
    }
}

TEST(TimeWindowsInAGraph, FireAgainWhileTheyTakeLateRecords) {
    agrees_with_lateness(sliding(100, 25));
    agrees_with_lateness(sliding(100, 100));
    agrees_with_lateness(sliding(30, 70));
}

/// The sums of a key's windows of 10, summed again over 100 for all keys together: what the records
/// of 100 sum to. Two streams merged by key, of which one is merged already.
TEST(TimeWindowsInAGraph, StandOnWindowsAndOnMergedKeys) {
    for (const std::uint64_t seed : test::seeds(6)) {
        std::map<std::int64_t, std::int64_t> oracle;
        Graph graph{"windows of windows"};
        const auto part = [&](std::uint64_t number) {
            const auto events = random_events(10 * seed + number, {.too_late = 0}, 500);
            for (const Event& event : events) {
                const std::int64_t ns = event.time.ns();
                oracle[(ns >= 0 ? ns : ns - 99) / 100 * 100] += event.value;
            }
            return graph.source(replay(events))
                .event_time<&Event::time>(BoundedDisorder{Duration{50}})
                .key_by<&Event::key>();
        };
        using Inner = WindowResult<std::uint32_t, std::int64_t>;
        auto rows = std::make_shared<Collected<std::pair<std::int64_t, std::int64_t>>>();
        part(1)
            .merge(part(2).merge(part(3)))
            .window(sliding(10, 10), sum)
            .key_by([](const Inner&) { return 0; })
            .window(sliding(100, 100), window::sum<&Inner::value>())
            .sink([rows](const auto& result) {
                rows->add({result.window.start.ns(), result.value});
            });
        const RunReport report = run(graph, run_options(seed));
        const auto answer = rows->records();
        EXPECT_EQ((std::map<std::int64_t, std::int64_t>(answer.begin(), answer.end())), oracle)
            << "seed " << seed;
        EXPECT_EQ(answer.size(), oracle.size()) << "a window fired twice";
        EXPECT_EQ(report.records_in(), 1'500U);
    }
}

TEST(TimeWindowsInAGraph, OpenOnesAreDroppedAtTheEndWhereAskedFor) {
    const std::vector<Event> events{{1, at(5), 1}, {1, at(15), 2}, {1, at(25), 4}};
    const Setting fire{.bound = Duration{0}};
    const Setting drop{.bound = Duration{0}, .options = {.at_end = OpenWindows::drop}};
    const std::vector<Row> all{{1, 0, 10, 1}, {1, 10, 20, 2}, {1, 20, 30, 4}};
    EXPECT_EQ(computed(events, sliding(10, 10), sum, fire).rows, all);
    // The last watermark is 25, but whether it came before the end depends on nothing: it rides on
    // the last batch.
    EXPECT_EQ(computed(events, sliding(10, 10), sum, drop).rows,
              (std::vector<Row>{{1, 0, 10, 1}, {1, 10, 20, 2}}));
    // The end cuts the windows behind the latest time, whatever the disorder was.
    for (const std::int64_t bound : {7, 20, 1'000}) {
        const Setting behind{.bound = Duration{bound}, .options = {.at_end = OpenWindows::drop}};
        EXPECT_EQ(computed(events, sliding(10, 10), sum, behind).rows,
                  (std::vector<Row>{{1, 0, 10, 1}, {1, 10, 20, 2}}))
            << "bound " << bound;
    }
}

TEST(TimeWindowsInAGraph, WithoutAWatermarkBeforeTheEndAreDroppedByTheLatestTime) {
    const std::vector<Event> events{{1, at(25), 4}, {1, at(5), 1}, {2, at(30), 8}, {1, at(15), 2}};
    Graph graph{"at end"};
    auto rows = std::make_shared<Collected<Row>>();
    graph.source(replay(events))
        .event_time<&Event::time>(AtEnd{})
        .key_by<&Event::key>()
        .window(sliding(10, 10), sum, {.at_end = OpenWindows::drop})
        .sink(ToRows{rows});
    run(graph, {.workers = 1});
    auto answer = rows->records();
    std::sort(answer.begin(), answer.end());
    EXPECT_EQ(answer, (std::vector<Row>{{1, 0, 10, 1}, {1, 10, 20, 2}, {1, 20, 30, 4}}));
}

}  // namespace
}  // namespace strid
