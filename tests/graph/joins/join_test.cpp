// SPDX-License-Identifier: Apache-2.0
//
// Joins in a running graph against nested loops: every pair once, and in outer joins every record
// without a partner once, in every mode, with several parallelisms, by key and by window, and under
// simulation; state goes when the watermarks have passed it.
#include <array>
#include <atomic>
#include <tuple>

#include "joined.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

TEST(IntervalJoin, EveryPairOnceAndEveryoneElseAlone) {
    struct Case {
        JoinInterval interval;
        std::int64_t lower, upper;  // both in
    };
    const Case cases[] = {{{{-20ns}, {30ns}}, -20, 30},
                          {{{-20ns, false}, {30ns, false}}, -19, 29},
                          {{{0ns}, {0ns}}, 0, 0},
                          {{{-500ns}, {-100ns}}, -500, -100},
                          {{{40ns}, {90ns, false}}, 40, 89}};
    std::uint64_t seed = test::first_seed();
    for (const Case& one : cases) {
        for (const JoinKind kind : {JoinKind::inner, JoinKind::left, JoinKind::full}) {
            const Inputs inputs = random_inputs(++seed, perturbed ? 300 : 1'500);
            const auto expected = nested_loops(inputs, one.lower, one.upper, kind);
            ASSERT_EQ(joined(inputs, one.interval, kind, run_options(seed)), expected)
                << "seed " << seed;
            if (kind == JoinKind::full) continue;
            ASSERT_EQ(joined(inputs, one.interval, kind, run_options(seed), Shared::by_window),
                      expected)
                << "seed " << seed;
        }
    }
}

struct CountsByReplica {
    std::shared_ptr<std::array<std::atomic<std::uint64_t>, 3>> counts;

    bool operator()(const std::int64_t&, const Context& context) const {
        ++(*counts)[context.replica];
        return true;
    }
};

TEST(WindowJoin, EveryPairOfAWindowAndEveryoneElseAlone) {
    const TimeWindows shapes[] = {sliding(100, 100), sliding(100, 40), sliding(30, 70, 3)};
    std::uint64_t seed = test::first_seed();
    for (const TimeWindows& windows : shapes) {
        for (const JoinKind kind : {JoinKind::inner, JoinKind::left, JoinKind::full}) {
            for (int round = 0; round < 3; ++round) {
                const Inputs inputs = punctual_inputs(++seed, perturbed ? 300 : 1'000);
                const auto expected = loops_over_windows(inputs, windows, kind);
                for (const Shared shared : {Shared::by_key, Shared::by_window}) {
                    ASSERT_EQ(joined(inputs, windows, kind, run_options(seed), shared), expected)
                        << "seed " << seed;
                }
            }
        }
    }
}

/// Behind two sources a window takes late records while the other source holds it open, so which
/// of them get in depends on the run: at least the pairs of the others come out, and none twice.
TEST(WindowJoin, LosesNoPairOfRecordsInTime) {
    const TimeWindows windows = sliding(100, 40);
    std::size_t late = 0;
    for (const std::uint64_t seed : test::seeds(8)) {
        const Inputs inputs = random_inputs(seed, perturbed ? 300 : 1'000);
        late += late_in(inputs);
        const Inputs in_time = punctual(inputs);
        const auto least = loops_over_windows(in_time, windows, JoinKind::inner);
        const auto most = loops_over_windows(inputs, windows, JoinKind::inner);
        for (const Shared shared : {Shared::by_key, Shared::by_window}) {
            const auto answer = joined(inputs, windows, JoinKind::inner, run_options(seed), shared);
            EXPECT_TRUE(std::includes(answer.begin(), answer.end(), least.begin(), least.end()))
                << "seed " << seed;
            EXPECT_TRUE(std::includes(most.begin(), most.end(), answer.begin(), answer.end()))
                << "seed " << seed;
        }
    }
    EXPECT_NE(late, 0U);
}

/// Where both streams have come to at their end.
EventTime last_watermark(const Inputs& inputs) {
    EventTime latest = EventTime::earliest();
    for (const Event& event : inputs.events) latest = std::max(latest, event.time);
    for (const Order& order : inputs.orders) latest = std::max(latest, order.time);
    return latest;
}

/// Records that wait for a partner at the end are not emitted, and neither are windows that are not
/// over.
TEST(Joins, DropWhatIsOpenAtTheEndWhereAskedFor) {
    const TimeWindows windows = sliding(100, 40);
    std::size_t dropped = 0;
    for (const std::uint64_t seed : test::seeds(12)) {
        const Inputs inputs = punctual_inputs(seed, perturbed ? 300 : 1'000);
        const EventTime end = last_watermark(inputs);
        std::map<std::int64_t, EventTime> event_times;
        for (const Event& event : inputs.events) event_times[event.value] = event.time;
        std::map<std::int64_t, EventTime> order_times;
        for (const Order& order : inputs.orders) order_times[order.number] = order.time;
        const JoinKind kind = seed % 2 == 0 ? JoinKind::left : JoinKind::full;

        auto pairs = nested_loops(inputs, -20, 30, kind);
        dropped += std::erase_if(pairs, [&](const Pair& pair) {
            if (pair.right == -1) return event_times.at(pair.left) + 31ns > end;
            return pair.left == -1 && order_times.at(pair.right) + 21ns > end;
        });
        ASSERT_EQ(joined(inputs, {{-20ns}, {30ns}}, kind, run_options(seed), Shared::by_key,
                         OpenWindows::drop),
                  pairs)
            << "seed " << seed;

        auto in_windows = loops_over_windows(inputs, windows, kind);
        dropped += std::erase_if(in_windows, [&](const InWindow& pair) {
            return EventTime::of_ns(pair.first) + windows.length() > end;
        });
        for (const Shared shared : {Shared::by_key, Shared::by_window}) {
            ASSERT_EQ(joined(inputs, windows, kind, run_options(seed), shared, OpenWindows::drop),
                      in_windows)
                << "seed " << seed;
        }
    }
    EXPECT_NE(dropped, 0U);
}

TEST(IntervalJoin, AFullJoinIsNotShared) {
    const Inputs inputs = random_inputs(1, 10);
    EXPECT_THROW((void)joined(inputs, {{0ns}, {5ns}}, JoinKind::full, {}, Shared::by_window),
                 GraphError);
}

TEST(IntervalJoin, TheReplicasOfAParallelJoinShareOneKey) {
    std::vector<Event> events;
    std::vector<Order> orders;
    for (std::int64_t i = 0; i < 4'000; ++i) {
        events.push_back({.key = 1, .time = EventTime::of_ns(2 * i), .value = i});
        orders.push_back({1, i, EventTime::of_ns(2 * i)});
    }
    Graph graph{"join"};
    auto seen = std::make_shared<std::array<std::atomic<std::uint64_t>, 3>>();
    graph.source(replay(events))
        .event_time<&Event::time>(MonotonousTime{})
        .join(graph.source(replay(orders)).event_time<&Order::time>(MonotonousTime{}),
              on<&Event::key, &Order::buyer>(), within(0ns, 0ns),
              // Generic: it must not be asked whether it takes pointers.
              [](const auto& event, const auto&) { return event.value; }, share::farmed,
              {.name = "join", .parallelism = 3})
        .filter(CountsByReplica{seen})
        .sink([](std::int64_t) {});
    RunOptions options;
    options.workers = 2;
    run(graph, options);
    std::uint64_t all = 0;
    for (const auto& count : *seen) {
        EXPECT_GT(count, 1'000U);
        all += count;
    }
    EXPECT_EQ(all, 4'000U);
}

TEST(IntervalJoin, AnIntervalWithoutTimesIsRefused) {
    const Inputs inputs = random_inputs(1, 10);
    EXPECT_THROW((void)joined(inputs, {{5ns}, {5ns, false}}, JoinKind::inner, {}), Error);
}

TEST(IntervalJoin, AnOuterJoinNeedsPointers) {
    Graph graph{"join"};
    const auto stream = [&graph] {
        return graph.source(replay(std::vector<Event>{}))
            .event_time<&Event::time>(MonotonousTime{});
    };
    EXPECT_THROW((void)stream().join(stream(), on<&Event::key>(), within(0ns, 0ns),
                                     [](const Event& a, const Event&) { return a; },
                                     {.kind = JoinKind::left}),
                 GraphError);
}

TEST(IntervalJoin, NeedsTimeOnBothSides) {
    Graph graph{"join"};
    graph.source(replay(std::vector<Event>{}))
        .timed_by<&Event::time>()
        .join(graph.source(replay(std::vector<Event>{})).event_time<&Event::time>(MonotonousTime{}),
              on<&Event::key>(), within(0ns, 0ns), [](const Event& a, const Event&) { return a; },
              {.name = "both"})
        .sink([](const Event&) {});
    try {
        run(graph);
        FAIL() << "nothing was refused";
    } catch (const GraphError& error) {
        EXPECT_STREQ(error.what(),
                     "operator 'both' uses event time: it needs event_time() in every stream "
                     "that leads to it");
    }
}

}  // namespace
}  // namespace strid
