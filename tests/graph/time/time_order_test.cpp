// SPDX-License-Identifier: Apache-2.0
//
// Streams put into the order of time, by watermarks and by the greatest delay so far, with and
// without the late records as a stream of their own. Against the obvious sequential computation
// (window_oracle.hpp).
#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/operator/time_order.hpp>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;

using Rows = std::shared_ptr<Collected<Event>>;

auto into(const Rows& rows) {
    return [rows](const Event& event) { rows->add(event); };
}

bool is_in_order(const std::vector<Event>& events) {
    return std::is_sorted(events.begin(), events.end(),
                          [](const Event& a, const Event& b) { return a.time < b.time; });
}

std::vector<Event> sorted(std::vector<Event> events) {
    std::sort(events.begin(), events.end());
    return events;
}

TEST(TimeOrder, IsTheSameInEveryRun) {
    for (const std::uint64_t seed : test::seeds(12)) {
        auto events = random_events(seed, {.too_late = 0}, event_count);
        for (std::size_t i = 0; i < events.size(); ++i)
            events[i].value = static_cast<std::int64_t>(i);
        Graph graph{"order"};
        auto rows = std::make_shared<Collected<Event>>();
        graph.source(replay(events))
            .event_time<&Event::time>(BoundedDisorder{Duration{50}})
            .rebalance()
            .filter([](const Event& event) { return event.value % 3 != 0; })
            .apply(in_order_of_time(field<&Event::value>))
            .sink(into(rows));
        const RunReport report = run(graph, run_options(seed));
        std::erase_if(events, [](const Event& event) { return event.value % 3 == 0; });
        std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
            return std::tie(a.time, a.value) < std::tie(b.time, b.value);
        });
        ASSERT_EQ(rows->records(), events) << "seed " << seed;
    }
}

/// The records of three sources in order, and their late records: those behind the watermark of
/// their own source.
struct ThreeSources {
    explicit ThreeSources(std::uint64_t seed) {
        for (std::uint32_t number = 0; number < 3; ++number) {
            auto events = random_events(3 * seed + number, {.keys = 1, .step = 3}, event_count);
            const auto asserted = watermarks(events, Duration{50});
            for (std::size_t i = 0; i < events.size(); ++i) {
                events[i].key = number;
                events[i].value = static_cast<std::int64_t>(i);
                (events[i].time < asserted[i] ? late : in_order).push_back(events[i]);
            }
            all.push_back(std::move(events));
        }
        std::sort(in_order.begin(), in_order.end(), [](const Event& a, const Event& b) {
            return std::tie(a.time, a.key, a.value) < std::tie(b.time, b.key, b.value);
        });
    }

    [[nodiscard]] auto merged(Graph& graph) const {
        const auto source = [&](std::size_t number) {
            return graph.source(replay(all[number]))
                .event_time<&Event::time>(BoundedDisorder{Duration{50}});
        };
        auto first = source(0);
        auto second = source(1);
        auto third = source(2);
        return std::move(first).merge(std::move(second), std::move(third));
    }

    std::vector<std::vector<Event>> all;
    std::vector<Event> in_order;
    std::vector<Event> late;
};

TEST(TimeOrder, OfSeveralSourcesIsTheSameInEveryRun) {
    std::size_t late = 0;
    for (const std::uint64_t seed : test::seeds(12)) {
        const ThreeSources sources(seed);
        Graph graph{"order"};
        auto rows = std::make_shared<Collected<Event>>();
        sources.merged(graph).apply(in_order_of_time()).sink(into(rows));
        const RunReport report = run(graph, run_options(seed));
        ASSERT_EQ(rows->records(), sources.in_order) << "seed " << seed;
        late += sources.late.size();
        ASSERT_EQ(late_in(report), sources.late.size()) << "seed " << seed;
    }
    EXPECT_NE(late, 0U);
}

/// Operators behind the stream of records keep its order.
TEST(TimeOrder, GivesItsLateRecords) {
    for (const std::uint64_t seed : test::seeds(12)) {
        const ThreeSources sources(seed);
        Graph graph{"order"};
        auto rows = std::make_shared<Collected<Event>>();
        auto late_rows = std::make_shared<Collected<Event>>();
        auto [records, late] = sources.merged(graph).apply(in_order_of_time(), late_apart);
        std::move(records)
            .map([](Event&& event) { return event; })
            .filter([](const Event& event) { return event.value % 3 != 0; })
            .separate()
            .sink(into(rows));
        std::move(late).sink(into(late_rows));
        const RunReport report = run(graph, run_options(seed));
        auto expected = sources.in_order;
        std::erase_if(expected, [](const Event& event) { return event.value % 3 == 0; });
        ASSERT_EQ(rows->records(), expected) << "seed " << seed;
        ASSERT_EQ(sorted(late_rows->records()), sorted(sources.late)) << "seed " << seed;
        ASSERT_EQ(late_in(report), sources.late.size()) << "seed " << seed;
    }
}

/// The number of records behind the watermark that could have been drawn when they came. The
/// watermark uses the greatest delay so far, and does not go back when a greater one comes.
std::uint64_t may_be_late(const std::vector<Event>& events) {
    std::uint64_t count = 0;
    EventTime latest = EventTime::earliest();
    EventTime asserted = EventTime::earliest();
    Duration slack{0};
    for (const Event& event : events) {
        latest = std::max(latest, event.time);
        slack = std::max(slack, latest - event.time);
        if (event.time < asserted) ++count;
        asserted = std::max(asserted, latest - slack);
    }
    return count;
}

/// Records come out in order for any disorder; no record is lost uncounted; a record that no
/// watermark has passed is never dropped.
TEST(KSlack, DropsAndCountsWhatIsLaterThanAnythingBefore) {
    for (const std::uint64_t seed : test::seeds(12)) {
        const auto events = random_events(seed, {}, event_count);
        Graph graph{"slack"};
        auto rows = std::make_shared<Collected<Event>>();
        graph.source(replay(events)).apply(k_slack(field<&Event::time>)).sink(into(rows));
        const RunReport report = run(graph, run_options(seed));
        EXPECT_TRUE(is_in_order(rows->records())) << "seed " << seed;
        EXPECT_EQ(rows->records().size() + late_in(report), events.size()) << "seed " << seed;
        EXPECT_LE(late_in(report), may_be_late(events)) << "seed " << seed;
    }
}

TEST(KSlack, GivesItsLateRecords) {
    constexpr std::size_t runs_of_a_source = 20'000;  // records: time has been reported meanwhile
    const Event before_all{0, at(-10'000), 0};
    for (const std::uint64_t seed : test::seeds(8)) {
        auto events = random_events(seed, {}, runs_of_a_source);
        events.push_back(before_all);
        Graph graph{"slack"};
        auto rows = std::make_shared<Collected<Event>>();
        auto late_rows = std::make_shared<Collected<Event>>();
        auto [records, late] =
            graph.source(replay(events)).apply(k_slack(field<&Event::time>), late_apart);
        std::move(records).sink(into(rows));
        std::move(late).sink(into(late_rows));
        const RunReport report = run(graph, run_options(seed));
        ASSERT_TRUE(is_in_order(rows->records())) << "seed " << seed;
        auto all = rows->records();
        const auto late_records = late_rows->records();
        ASSERT_FALSE(late_records.empty()) << "seed " << seed;
        ASSERT_EQ(late_records.back(), before_all) << "seed " << seed;
        all.insert(all.end(), late_records.begin(), late_records.end());
        ASSERT_EQ(sorted(all), sorted(events)) << "seed " << seed;
        ASSERT_EQ(late_in(report), late_records.size()) << "seed " << seed;
        ASSERT_LE(late_records.size(), may_be_late(events)) << "seed " << seed;
    }
}

/// Each replica would have an order of its own: refused, wherever it is asked for.
TEST(TimeOrder, IsRefusedSeveralReplicas) {
    const auto refused = [](Graph& graph, const RunOptions& options) {
        try {
            run(graph, options);
            ADD_FAILURE() << "nothing was refused";
        } catch (const GraphError& error) {
            EXPECT_STREQ(
                error.what(),
                "operator 'order' has to see the whole stream and cannot have parallelism 2");
        }
    };
    const auto put_in_order = [](Graph& graph, bool by_watermarks, std::size_t parallelism) {
        auto stream = graph.source(replay(std::vector<Event>{}))
                          .event_time<&Event::time>(BoundedDisorder{Duration{50}});
        const OperatorOptions options{.name = "order", .parallelism = parallelism};
        if (by_watermarks) {
            std::move(stream).apply(in_order_of_time(), options).sink([](const Event&) {});
        } else {
            std::move(stream).apply(k_slack(field<&Event::time>), options).sink([](const Event&) {
            });
        }
    };
    for (const bool by_watermarks : {true, false}) {
        Graph by_run{"run"};
        put_in_order(by_run, by_watermarks, 0);
        refused(by_run, {.operator_parallelism = {{"order", 2}}});
        Graph by_operator{"operator"};
        put_in_order(by_operator, by_watermarks, 2);
        refused(by_operator, {});
    }
}

}  // namespace
}  // namespace strid
