// SPDX-License-Identifier: Apache-2.0
//
// Joins that give their late records as streams of their own, by key and shared by window: nothing
// is lost, and nothing comes out twice, also where a source was idle.
#include "../time/falters.hpp"
#include "late_joins.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

TEST(IntervalJoin, GivesItsLateRecordsToo) {
    for (const Shared shared : both_ways) {
        for (const std::uint64_t seed : test::seeds(12)) {
            const Inputs inputs = random_inputs(seed, perturbed ? 300 : 1'500);
            const JoinKind kind = kind_of(seed, shared);
            Graph graph{"join"};
            const auto outcome = interval_outcome(graph, replayed(graph, inputs), shared,
                                                  {.kind = kind}, inputs, seed);
            ASSERT_EQ(outcome.pairs, nested_loops(inputs, -20, 30, kind)) << "seed " << seed;
            ASSERT_EQ(outcome.late_events, late_among(inputs.events, &Event::value))
                << "seed " << seed;
            ASSERT_EQ(outcome.late_orders, late_among(inputs.orders, &Order::number))
                << "seed " << seed;
        }
    }
}

/// When an idle source goes on, the other sources are ahead, and the partners of its records may be
/// gone. A record that is then not joined with all its partners comes out as late, once. No record
/// comes out alone if it has a partner that does not.
TEST(IntervalJoin, LosesNothingSilentlyWhenAnIdleSourceWakes) {
    for (const Shared shared : both_ways) {
        std::size_t late_by_idleness = 0;
        for (const std::uint64_t seed : test::seeds(12)) {
            const Inputs inputs = random_inputs(seed, perturbed ? 600 : 1'500);
            const JoinKind kind = kind_of(seed, shared);
            Graph graph{"idle"};
            const auto outcome = interval_outcome(graph, dozing(graph, inputs, seed), shared,
                                                  {.kind = kind}, inputs, seed);
            ASSERT_EQ(outcome.pairs, pairs_of(outcome.taken, -20, 30, kind)) << "seed " << seed;
            ASSERT_GE(outcome.late(), late_in(inputs)) << "seed " << seed;
            late_by_idleness += outcome.late() - late_in(inputs);
        }
        EXPECT_NE(late_by_idleness, 0U);
    }
}

/// Among the late ones are only such as are behind the watermark; all pairs of the others come out,
/// and none with a record that came out as late.
TEST(WindowJoin, GivesItsLateRecordsToo) {
    const TimeWindows windows = sliding(100, 40);
    for (const Shared shared : both_ways) {
        std::size_t late_records = 0;
        for (const std::uint64_t seed : test::seeds(12)) {
            const Inputs inputs = random_inputs(seed, perturbed ? 300 : 1'000);
            Graph graph{"join"};
            const auto outcome =
                window_outcome(graph, replayed(graph, inputs), shared, windows, {}, inputs, seed);
            late_records += outcome.late();
            const auto below_watermark = late_among(inputs.events, &Event::value);
            ASSERT_TRUE(std::includes(below_watermark.begin(), below_watermark.end(),
                                      outcome.late_events.begin(), outcome.late_events.end()))
                << "seed " << seed;
            const Inputs in_time = punctual(inputs);
            const auto least = loops_over_windows(in_time, windows, JoinKind::inner);
            const auto most = loops_over_windows(outcome.taken, windows, JoinKind::inner);
            const auto& pairs = outcome.pairs;
            ASSERT_TRUE(std::includes(pairs.begin(), pairs.end(), least.begin(), least.end()))
                << "seed " << seed;
            ASSERT_TRUE(std::includes(most.begin(), most.end(), pairs.begin(), pairs.end()))
                << "seed " << seed;
        }
        EXPECT_NE(late_records, 0U);
    }
}

/// Records with a window that has been over for more than the lateness by the watermark of their
/// own stream.
template <class Record, class Number>
std::vector<std::int64_t> late_by_windows(const std::vector<Record>& records, const Number& number,
                                          const TimeWindows& windows, Duration lateness) {
    std::vector<std::int64_t> late;
    EventTime latest = EventTime::earliest();
    for (const Record& record : records) {
        const auto end = first_end(windows, record.time);
        if (end && *end + lateness <= latest - Duration{50}) {
            late.push_back(std::invoke(number, record));
        }
        latest = std::max(latest, record.time);
    }
    std::sort(late.begin(), late.end());
    return late;
}

Sides faltering(Graph& graph, const Inputs& inputs) {
    return {graph.source(replay(inputs.events))
                .map(Falters{})
                .event_time<&Event::time>(BoundedDisorder{Duration{50}}),
            graph.source(replay(inputs.orders))
                .map(Falters{})
                .event_time<&Order::time>(BoundedDisorder{Duration{50}})};
}

/// With LateBy::own_input they are the same ones in every run, whichever stream is ahead.
TEST(WindowJoin, GivesTheSameLateRecordsByTheirOwnInputInEveryRun) {
    std::size_t late_records = 0;
    for (const Shared shared : both_ways) {
        for (const auto& windows : {sliding(100, 40), sliding(100, 100), sliding(30, 70)}) {
            for (const Duration lateness : {0ns, 120ns}) {
                for (const std::uint64_t seed : test::seeds(6)) {
                    const Inputs inputs = random_inputs(seed, perturbed ? 300 : 1'000);
                    // With a lateness, a record that came out alone may get a partner.
                    const JoinKind kind =
                        lateness == 0ns ? kind_of(seed, Shared::by_key) : JoinKind::inner;
                    Graph graph{"join"};
                    const auto outcome = window_outcome(
                        graph, faltering(graph, inputs), shared, windows,
                        {.kind = kind, .lateness = lateness, .late_by = LateBy::own_input}, inputs,
                        seed);
                    late_records += outcome.late();
                    ASSERT_EQ(outcome.late_events,
                              late_by_windows(inputs.events, &Event::value, windows, lateness))
                        << "seed " << seed;
                    ASSERT_EQ(outcome.late_orders,
                              late_by_windows(inputs.orders, &Order::number, windows, lateness))
                        << "seed " << seed;
                    ASSERT_EQ(outcome.pairs, loops_over_windows(outcome.taken, windows, kind))
                        << "seed " << seed;
                }
            }
        }
    }
    EXPECT_NE(late_records, 0U);
}

/// Where each record has one window, it is joined with all records there or comes out as late.
TEST(WindowJoin, LosesNothingSilentlyWhenAnIdleSourceWakes) {
    const TimeWindows windows = sliding(100, 100);
    for (const Shared shared : both_ways) {
        std::size_t late_records = 0;
        for (const std::uint64_t seed : test::seeds(12)) {
            const Inputs inputs = random_inputs(seed, perturbed ? 600 : 1'500);
            const JoinKind kind = kind_of(seed, Shared::by_key);
            Graph graph{"idle"};
            const auto outcome = window_outcome(graph, dozing(graph, inputs, seed), shared, windows,
                                                {.kind = kind}, inputs, seed);
            ASSERT_EQ(outcome.pairs, loops_over_windows(outcome.taken, windows, kind))
                << "seed " << seed;
            late_records += outcome.late();
        }
        EXPECT_NE(late_records, 0U);
    }
}

}  // namespace
}  // namespace strid
