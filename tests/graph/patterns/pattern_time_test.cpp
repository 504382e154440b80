// SPDX-License-Identifier: Apache-2.0
//
// Event time through patterns: one that makes one result of each task, in order, holds watermarks
// back until the results before them have left, and windows behind it take in and refuse the same
// records as they would without it. Behind any other pattern the stream has no time.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include <gmock/gmock.h>

#include <strid/operator/time_order.hpp>
#include <strid/pattern/pattern_operator.hpp>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;
using pattern::pattern_operator;

/// Events pass it as they are.
auto in_order() {
    const auto same = [](const Event& event) { return event; };
    return pattern::pipeline(same, pattern::ordered_farm(same, {.workers = 3}),
                             pattern::named("last", same));
}

TEST(PatternTime, WindowsBehindAPatternInOrderRefuseTheSameRecords) {
    const auto windows = sliding(100, 25);
    std::size_t late = 0;
    for (const std::uint64_t seed : test::seeds(16)) {
        const auto events = random_events(seed, {.too_late = 900}, event_count);
        Graph graph{"windows"};
        auto rows = std::make_shared<Collected<Row>>();
        graph.source(replay(events))
            .event_time<&Event::time>(BoundedDisorder{Duration{50}})
            .apply(pattern_operator(in_order(), {.lane_tasks = 1 + seed % 3}))
            .key_by<&Event::key>()
            .window(windows, sum)
            .sink(ToRows{rows});
        run(graph, run_options(seed));
        auto answer = rows->records();
        std::sort(answer.begin(), answer.end());
        const Answer oracle = expected(events, windows, Duration{50}, Duration::zero(), sum_of);
        late += oracle.late.size();
        ASSERT_EQ(answer, oracle.rows) << "seed " << seed;
    }
    EXPECT_GT(late, 0U);
}

TEST(PatternTime, RecordsOfAKeyGoToOneReplicaAndStayInOrder) {
    for (const std::uint64_t seed : test::seeds(20)) {
        const auto events = random_events(seed, {.keys = 7}, event_count);
        Graph graph{"keys"};
        auto out = std::make_shared<Collected<Event>>();
        graph.source(replay(events))
            .key_by<&Event::key>()
            .apply(pattern_operator(in_order()), {.name = "by key", .parallelism = 2})
            .sink([out](const Event& event) { out->add(event); });
        const RunReport report = run(graph, run_options(seed));
        EXPECT_EQ(report.find("by key")->records_in, events.size());
        EXPECT_EQ(report.find("by key")->records_out, events.size());
        auto answer = out->records();
        auto expected = events;
        const auto by_key = [](const Event& a, const Event& b) { return a.key < b.key; };
        std::stable_sort(answer.begin(), answer.end(), by_key);
        std::stable_sort(expected.begin(), expected.end(), by_key);
        ASSERT_EQ(answer, expected) << "seed " << seed;
    }
}

TEST(PatternTime, EndsWhereThePatternKeepsNoOrder) {
    Graph graph{"no time"};
    graph.source(replay(std::vector<Event>{}))
        .event_time<&Event::time>(MonotonousTime{})
        .apply(pattern_operator(pattern::farm(in_order())))
        .apply(in_order_of_time())
        .sink([](const Event&) {});
    try {
        (void)graph.explain();
        FAIL() << "it was taken";
    } catch (const GraphError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("uses event time"));
    }
}

}  // namespace
}  // namespace strid
