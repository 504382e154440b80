// SPDX-License-Identifier: Apache-2.0
//
// Windows whose work is shared otherwise than by key (papers 1 and 2: parallel, combined) against
// the obvious computation (window_oracle.hpp), in every mode. Paned and map-reduce windows are in
// two_level_windows_test.cpp.
#include "distributed_windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

TEST(SharedWindows, GiveTheirLateRecordsToo) {
    const auto farmed = [](auto grouped, const auto& windows, const WindowOptions& options) {
        return std::move(grouped).window(windows, sum, share::farmed | late_apart, options);
    };
    const auto by_default = [](auto grouped, const auto& windows, const WindowOptions& options) {
        return std::move(grouped).window(windows, sum, share::automatic | late_apart, options);
    };
    const auto run_with_late = [](const auto& build, const auto& events, const auto& windows,
                                  Duration lateness, std::uint64_t seed) {
        Graph graph{"late"};
        auto rows = std::make_shared<Collected<Row>>();
        auto late_rows = std::make_shared<Collected<Event>>();
        auto [results, late] =
            build(graph.source(replay(events))
                      .template event_time<&Event::time>(BoundedDisorder{Duration{50}})
                      .template key_by<&Event::key>(),
                  windows, WindowOptions{.lateness = lateness});
        std::move(results).sink([rows](const auto& row) {
            rows->add({row.key, row.window.start.ns(), row.window.end.ns(),
                       static_cast<double>(row.value)});
        });
        std::move(late).sink(collect_into(late_rows));
        run(graph, run_options(seed));
        std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, double> last;
        for (const auto& [key, from, to, value] : rows->records()) {
            last.insert_or_assign({key, from, to}, value);
        }
        Answer answer;
        for (const auto& [where, value] : last) {
            const auto& [key, from, to] = where;
            answer.rows.emplace_back(key, from, to, value);
        }
        answer.late = late_rows->records();
        sort(answer);
        return answer;
    };
    std::size_t late = 0;
    for (const std::uint64_t seed : test::seeds(12)) {
        const auto events = random_events(seed, {.too_late = 900}, event_count);
        for (const Duration lateness : {0ns, 200ns}) {
            const auto windows = sliding(100, 30);
            const Answer oracle = expected(events, windows, Duration{50}, lateness, sum_of);
            late += oracle.late.size();
            ASSERT_EQ(run_with_late(farmed, events, windows, lateness, seed), oracle)
                << "seed " << seed;
            ASSERT_EQ(run_with_late(by_default, events, windows, lateness, seed), oracle)
                << "seed " << seed;
        }
        const auto sessions = window::SessionWindows::with_gap(40ns);
        ASSERT_EQ(run_with_late(by_default, events, sessions, Duration::zero(), seed),
                  expected(events, sessions, Duration{50}, Duration::zero(), sum_of))
            << "seed " << seed;
    }
    EXPECT_NE(late, 0U);
}

TEST(ParallelWindows, AreThoseOfOneReplica) {
    for (const auto& windows : shapes)
        agrees_when_shared(farmed(windows, mean), windows, mean_of, {});
}

TEST(ParallelWindows, FireAgainWhileTheyTakeLateRecords) {
    for (const auto& windows : shapes) {
        agrees_when_shared(farmed(windows, sum), windows, sum_of, {.too_late = 900}, Duration{200});
    }
}

/// The replica that has the records is one, so that which are late is certain too.
TEST(CombinedWindows, AreThoseOfOneReplica) {
    for (const auto& windows : shapes) {
        for (const Shape& shape :
             {Shape{}, Shape{.keys = 3'000}, Shape{.keys = 1, .disorder = 0}}) {
            agrees_when_shared(combined(windows, sum), windows, sum_of, shape);
        }
    }
}

TEST(CombinedWindows, FireAgainWhileTheyTakeLateRecords) {
    for (const auto& windows : shapes) {
        agrees_when_shared(combined(windows, sum), windows, sum_of, {.too_late = 900},
                           Duration{200});
    }
}

/// More keys than the states that are kept, and so few records of each that it gives up for a while
/// and tries again; then one key, so that it finds out that it pays.
TEST(CombinedWindows, AreRightWithMoreKeysThanStatesAreKept) {
    if (test::perturbed) GTEST_SKIP() << "many records";
    std::vector<Event> events;
    for (std::uint32_t i = 0; i < 200'000; ++i) {
        const std::uint32_t key = i < 150'000 ? i * 7'919 % 20'011 : 1;
        events.push_back({key, at(i), i % 101});
    }
    const auto windows = sliding(60'000, 20'000);
    const SharedResults shared = run_shared(events, combined(windows, sum), Duration::zero(), 2);
    const auto oracle = expected(events, windows, Duration{50}, Duration::zero(), sum_of);
    ASSERT_EQ(shared.last.size(), oracle.rows.size());
    for (const auto& [key, from, to, value] : oracle.rows) {
        ASSERT_EQ(shared.last.at({key, from, to}), value) << key << " at " << from;
    }
}

/// Free states of the first level look like those of key 0 in the earliest pane.
TEST(CombinedWindows, CountRecordsOfTheEarliestMomentThereIs) {
    const auto first = EventTime::earliest();
    const std::vector<Event> events{{0, first, 5}, {1, first, 1}, {0, first, 6}, {0, at(100), 2}};
    for (const std::uint64_t seed : test::seeds(4)) {
        const SharedResults shared =
            run_shared(events, combined(sliding(1, 1), sum), Duration::zero(), seed);
        double total = 0;
        for (const auto& [where, value] : shared.last) total += value;
        EXPECT_EQ(total, 14) << "seed " << seed;
        EXPECT_EQ(shared.late, 0U) << "seed " << seed;
        EXPECT_EQ(shared.last.at({0, first.ns(), first.ns() + 1}), 11) << "seed " << seed;
    }
}

/// Time goes on without a source that is idle; of what comes too late then every record is counted,
/// also where it was combined before.
TEST(CombinedWindows, CountEveryRecordThatIsLateBecauseItsSourceWasIdle) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {.disorder = 0, .too_late = 0}, event_count);
        Graph graph{"idle"};
        const auto source = [&](std::vector<Event> part, const char* name) {
            return graph.source(replay(std::move(part)), {.name = name})
                .event_time<&Event::time>(MonotonousTime{},
                                          {.idle_after = std::chrono::microseconds{200}});
        };
        std::vector<Event> odd;
        std::vector<Event> even;
        for (std::size_t i = 0; i < events.size(); ++i)
            (i % 2 == 0 ? even : odd).push_back(events[i]);
        auto rows = std::make_shared<Collected<Row>>();
        source(odd, "odd")
            .merge(source(even, "even"))
            .key_by<&Event::key>()
            .window(sliding(100, 100), window::count(), share::combined, {.name = "counts"})
            .sink(ToRows{rows});
        const RunReport report = run(graph, run_options(seed));
        double counted = 0;
        for (const auto& [key, from, to, value] : rows->records()) counted += value;
        EXPECT_EQ(counted + static_cast<double>(late_in(report)), events.size()) << "seed " << seed;
    }
}

}  // namespace
}  // namespace strid
