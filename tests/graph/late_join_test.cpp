// SPDX-License-Identifier: Apache-2.0
//
// Joins that give their late records as streams of their own, by key and shared by window: nothing
// is lost, and nothing comes out twice, also where a source was idle.
#include <memory>

#include "joins.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

struct Sides {
    Stream<Event> events;
    Stream<Order> orders;
};

Sides replayed(Graph& graph, const Inputs& inputs) {
    return {graph.source(replay(inputs.events)).event_time(&Event::time, BoundedDisorder{50ns}),
            graph.source(replay(inputs.orders)).event_time(&Order::time, BoundedDisorder{50ns})};
}
Sides dozing(Graph& graph, const Inputs& inputs, std::uint64_t seed) {
    return {graph.source(Dozing<Event>{inputs.events, seed}).event_time(&Event::time, SourceTime{}),
            graph.source(Dozing<Order>{inputs.orders, seed + 1})
                .event_time(&Order::time, SourceTime{})};
}

/// What came out of a join, each sorted, and what did not come out as late.
template <class P>
struct Outcome {
    std::vector<P> pairs;
    std::vector<std::int64_t> late_events;
    std::vector<std::int64_t> late_orders;
    Inputs taken;

    [[nodiscard]] std::size_t late() const { return late_events.size() + late_orders.size(); }
};

template <class Record, class Number>
std::vector<std::int64_t> sorted_numbers(const std::vector<Record>& records, const Number& number) {
    std::vector<std::int64_t> numbers;
    for (const Record& record : records) numbers.push_back(std::invoke(number, record));
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

template <class Record, class Number>
void leave_out(std::vector<Record>& records, const std::vector<std::int64_t>& numbers,
               const Number& number) {
    std::erase_if(records, [&](const Record& record) {
        return std::binary_search(numbers.begin(), numbers.end(), std::invoke(number, record));
    });
}

template <class P, class Streams, class ToPair>
Outcome<P> outcome_of(Graph& graph, Streams streams, const ToPair& to_pair, const Inputs& inputs,
                      std::uint64_t seed) {
    auto pairs = std::make_shared<Collected<P>>();
    auto events = std::make_shared<Collected<Event>>();
    auto orders = std::make_shared<Collected<Order>>();
    std::move(streams.pairs).sink([pairs, to_pair](const auto& one) { pairs->add(to_pair(one)); });
    std::move(streams.late_left).sink(collect_into(events));
    std::move(streams.late_right).sink(collect_into(orders));
    const RunReport report = run(graph, run_options(seed));
    Outcome<P> outcome{pairs->records(), sorted_numbers(events->records(), &Event::value),
                       sorted_numbers(orders->records(), &Order::number), inputs};
    std::sort(outcome.pairs.begin(), outcome.pairs.end());
    EXPECT_EQ(late_in(report), outcome.late()) << "seed " << seed;
    leave_out(outcome.taken.events, outcome.late_events, &Event::value);
    leave_out(outcome.taken.orders, outcome.late_orders, &Order::number);
    return outcome;
}

const auto left = on(&Event::key, &Event::time);
const auto right = on(&Order::buyer, &Order::time);

Outcome<Pair> interval_outcome(Graph& graph, Sides sides, Shared shared, JoinKind kind,
                               const Inputs& inputs, std::uint64_t seed) {
    const JoinInterval interval{{-20ns}, {30ns}};
    const JoinOptions options{.name = "join", .kind = kind};
    return outcome_of<Pair>(
        graph,
        shared == Shared::by_key
            ? interval_join_with_late(std::move(sides.events), std::move(sides.orders), left, right,
                                      interval, make_pair, options)
            : parallel_interval_join_with_late(std::move(sides.events), std::move(sides.orders),
                                               left, right, interval, make_pair, options),
        [](const Pair& pair) { return pair; }, inputs, seed);
}

Outcome<InWindow> window_outcome(Graph& graph, Sides sides, Shared shared,
                                 const TimeWindows& windows, JoinKind kind, const Inputs& inputs,
                                 std::uint64_t seed) {
    const JoinOptions options{.name = "join", .kind = kind};
    return outcome_of<InWindow>(
        graph,
        shared == Shared::by_key
            ? window_join_with_late(std::move(sides.events), std::move(sides.orders), left, right,
                                    windows, make_pair, options)
            : parallel_window_join_with_late(std::move(sides.events), std::move(sides.orders), left,
                                             right, windows, make_pair, options),
        in_window, inputs, seed);
}

/// Of three kinds the one whose turn it is; no full join is shared by window.
JoinKind kind_of(std::uint64_t round, Shared shared) {
    if (shared == Shared::by_window) return round % 2 == 0 ? JoinKind::inner : JoinKind::left;
    return JoinKind{static_cast<std::uint8_t>(round % 3)};
}

constexpr Shared both_ways[] = {Shared::by_key, Shared::by_window};

/// Those that a stream does not take, by what is told apart of them.
template <class Record, class Number>
std::vector<std::int64_t> late_among(const std::vector<Record>& records, const Number& number) {
    auto numbers = sorted_numbers(records, number);
    const auto taken = sorted_numbers(punctual(records), number);
    std::erase_if(numbers, [&taken](std::int64_t one) {
        return std::binary_search(taken.begin(), taken.end(), one);
    });
    return numbers;
}

TEST(IntervalJoin, GivesItsLateRecordsToo) {
    for (const Shared shared : both_ways) {
        for (const std::uint64_t seed : test::seeds(12)) {
            const Inputs inputs = random_inputs(seed, perturbed ? 300 : 1'500);
            const JoinKind kind = kind_of(seed, shared);
            Graph graph{"join"};
            const auto outcome =
                interval_outcome(graph, replayed(graph, inputs), shared, kind, inputs, seed);
            ASSERT_EQ(outcome.pairs, nested_loops(inputs, -20, 30, kind)) << "seed " << seed;
            ASSERT_EQ(outcome.late_events, late_among(inputs.events, &Event::value))
                << "seed " << seed;
            ASSERT_EQ(outcome.late_orders, late_among(inputs.orders, &Order::number))
                << "seed " << seed;
        }
    }
}

/// A source that was idle finds the others ahead when it wakes: what it would have met may be gone.
/// Who then is not joined with everybody comes out as late, once, and nobody comes out as alone who
/// has a partner that does not.
TEST(IntervalJoin, LosesNothingSilentlyWhenAnIdleSourceWakes) {
    for (const Shared shared : both_ways) {
        std::size_t late_by_idleness = 0;
        for (const std::uint64_t seed : test::seeds(12)) {
            const Inputs inputs = random_inputs(seed, perturbed ? 600 : 1'500);
            const JoinKind kind = kind_of(seed, shared);
            Graph graph{"idle"};
            const auto outcome =
                interval_outcome(graph, dozing(graph, inputs, seed), shared, kind, inputs, seed);
            ASSERT_EQ(outcome.pairs, pairs_of(outcome.taken, -20, 30, kind)) << "seed " << seed;
            ASSERT_GE(outcome.late(), late_in(inputs)) << "seed " << seed;
            late_by_idleness += outcome.late() - late_in(inputs);
        }
        EXPECT_NE(late_by_idleness, 0U);
    }
}

/// Among the late ones are only such as broke their promise; all pairs of the others come out, and
/// none with a record that came out as late.
TEST(WindowJoin, GivesItsLateRecordsToo) {
    const TimeWindows windows = sliding(100, 40);
    for (const Shared shared : both_ways) {
        std::size_t late_records = 0;
        for (const std::uint64_t seed : test::seeds(12)) {
            const Inputs inputs = random_inputs(seed, perturbed ? 300 : 1'000);
            Graph graph{"join"};
            const auto outcome = window_outcome(graph, replayed(graph, inputs), shared, windows,
                                                JoinKind::inner, inputs, seed);
            late_records += outcome.late();
            const auto broke_promise = late_among(inputs.events, &Event::value);
            ASSERT_TRUE(std::includes(broke_promise.begin(), broke_promise.end(),
                                      outcome.late_events.begin(), outcome.late_events.end()))
                << "seed " << seed;
            const Inputs in_time{punctual(inputs.events), punctual(inputs.orders)};
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

/// Where each record has one window, it is joined with everybody there or comes out as late.
TEST(WindowJoin, LosesNothingSilentlyWhenAnIdleSourceWakes) {
    const TimeWindows windows = sliding(100, 100);
    for (const Shared shared : both_ways) {
        std::size_t late_records = 0;
        for (const std::uint64_t seed : test::seeds(12)) {
            const Inputs inputs = random_inputs(seed, perturbed ? 600 : 1'500);
            const JoinKind kind = kind_of(seed, Shared::by_key);
            Graph graph{"idle"};
            const auto outcome = window_outcome(graph, dozing(graph, inputs, seed), shared, windows,
                                                kind, inputs, seed);
            ASSERT_EQ(outcome.pairs, loops_over_windows(outcome.taken, windows, kind))
                << "seed " << seed;
            late_records += outcome.late();
        }
        EXPECT_NE(late_records, 0U);
    }
}

}  // namespace
}  // namespace strid
