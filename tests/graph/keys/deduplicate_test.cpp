// SPDX-License-Identifier: Apache-2.0
//
// Which records pass `deduplicate`, against the list of all that have passed before.
#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using test::Event;

struct Passed {
    std::vector<Event> records;
    std::uint64_t late = 0;
};

Passed expected(const std::vector<Event>& events, Duration bound, Duration within) {
    const auto asserted = test::watermarks(events, bound);
    Passed passed;
    std::map<std::uint32_t, std::vector<std::int64_t>> times;
    for (std::size_t i = 0; i != events.size(); ++i) {
        const std::int64_t time = events[i].time.ns();
        if (events[i].time < asserted[i]) {
            ++passed.late;
            continue;
        }
        bool is_new = true;
        for (const std::int64_t one : times[events[i].key]) {
            is_new = is_new && (one - time >= within.count() || time - one >= within.count());
        }
        if (!is_new) continue;
        times[events[i].key].push_back(time);
        passed.records.push_back(events[i]);
    }
    std::sort(passed.records.begin(), passed.records.end());
    return passed;
}

TEST(Deduplicate, PassesTheFirstOfThoseThatRepeatEachOther) {
    std::uint64_t late = 0;
    for (const std::uint64_t seed : test::seeds(12)) {
        const auto events = test::random_events(seed, {.keys = 40}, test::event_count);
        const Duration bound{50};
        const Duration within{static_cast<std::int64_t>(1 + 60 * (seed % 12))};
        Graph graph{"deduplicate"};
        auto rows = std::make_shared<Collected<Event>>();
        graph.source(replay(events))
            .event_time<&Event::time>(BoundedDisorder{bound})
            .key_by<&Event::key>()
            .apply(deduplicate(within), {.name = "once"})
            .sink(collect_into(rows));
        const RunReport report = run(graph, test::run_options(seed));
        auto records = rows->records();
        std::sort(records.begin(), records.end());
        const Passed oracle = expected(events, bound, within);
        ASSERT_EQ(records, oracle.records) << "seed " << seed;
        const OperatorReport& once = *report.find("once");
        ASSERT_EQ(once.records_late, oracle.late) << "seed " << seed;
        ASSERT_EQ(once.kind, "deduplicate");
        late += oracle.late;
    }
    EXPECT_GT(late, 0U) << "no record was late: nothing was shown";
}

TEST(Deduplicate, GivesLateRecordsAsAStream) {
    const auto events = test::random_events(7, {.keys = 40}, test::event_count);
    Graph graph{"deduplicate"};
    auto rows = std::make_shared<Collected<Event>>();
    auto late_rows = std::make_shared<Collected<Event>>();
    auto [records, late] = graph.source(replay(events))
                               .event_time<&Event::time>(BoundedDisorder{50ns})
                               .key_by<&Event::key>()
                               .apply(deduplicate(60ns), late_apart, {.name = "once"});
    std::move(records).sink(collect_into(rows));
    std::move(late).sink(collect_into(late_rows));
    const RunReport report = run(graph, test::run_options(7));
    const auto asserted = test::watermarks(events, 50ns);
    std::vector<Event> expected_late;
    for (std::size_t i = 0; i != events.size(); ++i) {
        if (events[i].time < asserted[i]) expected_late.push_back(events[i]);
    }
    ASSERT_FALSE(expected_late.empty());
    auto sorted = [](std::vector<Event> some) {
        std::sort(some.begin(), some.end());
        return some;
    };
    EXPECT_EQ(sorted(late_rows->records()), sorted(expected_late));
    EXPECT_EQ(sorted(rows->records()), expected(events, 50ns, 60ns).records);
    EXPECT_EQ(report.find("once")->records_late, expected_late.size());
}

TEST(Deduplicate, ForgetsKeysThatNothingCanRepeat) {
    std::vector<Event> events;
    const std::uint32_t keys = test::perturbed ? 5'000 : 100'000;
    for (std::uint32_t i = 0; i != keys; ++i) events.push_back({i, test::at(i), 0});
    Graph graph{"deduplicate"};
    graph.source(replay(events))
        .event_time<&Event::time>(MonotonousTime{})
        .key_by<&Event::key>()
        .apply(deduplicate(10ns), {.name = "once"})
        .sink([](const Event&) {});
    const RunReport report = run(graph);
    EXPECT_EQ(report.find("once")->records_out, keys);
    EXPECT_LE(report.find("once")->state_keys, 10U * report.find("once")->parallelism);
}

TEST(Deduplicate, RefusesATimeThatIsNotPositive) {
    EXPECT_THROW((void)deduplicate(0ns), GraphError);
    EXPECT_THROW((void)deduplicate(-1ns), GraphError);
}

TEST(Deduplicate, NeedsEventTime) {
    Graph graph{"deduplicate"};
    graph.source(replay(std::vector<Event>{}))
        .timed_by<&Event::time>()
        .key_by<&Event::key>()
        .apply(deduplicate(10ns))
        .sink([](const Event&) {});
    EXPECT_THROW((void)run(graph), GraphError);
}

}  // namespace
}  // namespace strid
