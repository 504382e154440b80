// SPDX-License-Identifier: Apache-2.0
//
// As-of joins in a running graph against a search through all right records, which uses nothing of
// watermarks: each left record once, by key in the order of time, in every mode, with several
// parallelisms and under simulation. tests/pandas compares them with merge_asof.
#include <string>

#include "late_joins.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

struct Priced {
    std::uint32_t key;
    EventTime time;
    Pair pair;
};
constexpr auto make_priced = [](const Event& event, const Order* order) {
    return Priced{event.key, event.time, make_pair(&event, order)};
};

/// The results of each key, in their order.
using Answers = std::map<std::uint32_t, std::vector<Pair>>;

template <class Tie>
Answers searched(const Inputs& taken, const AsOfOptions& options, const Tie& comes_before) {
    Answers answers;
    std::vector<Event> events = taken.events;
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.time < b.time; });
    for (const Event& event : events) {
        const Order* best = nullptr;
        for (const Order& order : taken.orders) {
            const std::int64_t age = event.time.ns() - order.time.ns();
            if (order.buyer != event.key || age < (options.matches_equal ? 0 : 1)) continue;
            if (options.tolerance && age > options.tolerance->count()) continue;
            if (best != nullptr && order.time < best->time) continue;
            if (best != nullptr && order.time == best->time && comes_before(order, *best)) continue;
            best = &order;
        }
        if (best == nullptr && options.kind == JoinKind::inner) continue;
        answers[event.key].push_back(make_pair(&event, best));
    }
    return answers;
}
Answers searched(const Inputs& taken, const AsOfOptions& options) {
    return searched(taken, options, [](const Order&, const Order&) { return false; });
}

/// Most within the disorder of 50; times are multiples of the grain, so that many are equal.
Inputs random_trades(std::uint64_t seed) {
    Inputs inputs = random_inputs(seed, perturbed ? 300 : 1'500);
    const std::int64_t grain = std::array<std::int64_t, 3>{1, 8, 40}[seed / 4 % 3];
    const auto coarse = [grain](EventTime time) {
        return at((time.ns() + 100'000) / grain * grain - 100'000);
    };
    for (Event& event : inputs.events) event.time = coarse(event.time);
    for (Order& order : inputs.orders) order.time = coarse(order.time);
    return inputs;
}

/// Of the ways to ask the one whose turn it is.
AsOfOptions options_of(std::uint64_t seed) {
    AsOfOptions options{.name = "as-of"};
    options.kind = seed / 2 % 2 == 0 ? JoinKind::inner : JoinKind::left;
    options.matches_equal = seed / 3 % 2 == 0;
    switch (seed / 4 % 4) {
        case 0:
            break;
        case 1:
            options.tolerance = 0ns;
            break;
        case 2:
            options.tolerance = 40ns;
            break;
        default:
            options.tolerance = 300ns;
            break;
    }
    return options;
}

struct Came {
    Answers answers;
    std::vector<std::int64_t> late_events;
    std::vector<std::int64_t> late_orders;
    Inputs taken;
};

Came came(Graph& graph, Sides sides, const AsOfOptions& options, const Inputs& inputs,
          std::uint64_t seed) {
    auto [priced, late_left, late_right] =
        std::move(sides.events)
            .as_of(std::move(sides.orders), keys, make_priced, late_apart, options);
    auto answers = std::make_shared<Collected<Priced>>();
    auto events = std::make_shared<Collected<Event>>();
    auto orders = std::make_shared<Collected<Order>>();
    std::move(priced).sink([answers](const Priced& one) { answers->add(one); });
    std::move(late_left).sink(collect_into(events));
    std::move(late_right).sink(collect_into(orders));
    const RunReport report = run(graph, run_options(seed));
    Came result{{},
                sorted_numbers(events->records(), &Event::value),
                sorted_numbers(orders->records(), &Order::number),
                inputs};
    for (const Priced& one : answers->records()) result.answers[one.key].push_back(one.pair);
    EXPECT_EQ(late_in(report), result.late_events.size() + result.late_orders.size());
    leave_out(result.taken.events, result.late_events, &Event::value);
    leave_out(result.taken.orders, result.late_orders, &Order::number);
    return result;
}

void expect_as_searched(std::uint64_t seed, Duration lateness) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Inputs inputs = random_trades(seed);
    AsOfOptions options = options_of(seed);
    options.lateness = lateness;
    Graph graph{"as-of"};
    const Came result = came(graph, replayed(graph, inputs), options, inputs, seed);
    ASSERT_EQ(result.answers, searched(punctual(inputs, lateness), options));
    ASSERT_EQ(result.late_events, late_among(inputs.events, &Event::value, lateness));
    ASSERT_EQ(result.late_orders, late_among(inputs.orders, &Order::number, lateness));
}

TEST(AsOfJoin, TheLatestOfTheKeyAtOrBeforeEach) {
    for (const std::uint64_t seed : test::seeds(48)) expect_as_searched(seed, 0ns);
}

TEST(AsOfJoin, TakesWhatComesWithinTheLateness) {
    for (const std::uint64_t seed : test::seeds(24)) {
        expect_as_searched(seed, std::array<Duration, 3>{1ns, 100ns, 10'000ns}[seed % 3]);
    }
}

/// Which right records counted when the watermark passed a left one is not known any more: those
/// that come then are late, and what is not late is answered as if all had been there.
TEST(AsOfJoin, LosesNothingSilentlyWhenAnIdleSourceWakes) {
    std::size_t late_by_idleness = 0;
    for (const std::uint64_t seed : test::seeds(12)) {
        const Inputs inputs = random_trades(seed);
        const AsOfOptions options = options_of(seed);
        Graph graph{"idle"};
        const Came result = came(graph, dozing(graph, inputs, seed), options, inputs, seed);
        ASSERT_EQ(result.answers, searched(result.taken, options)) << "seed " << seed;
        const std::size_t late = result.late_events.size() + result.late_orders.size();
        ASSERT_GE(late, late_in(inputs)) << "seed " << seed;
        late_by_idleness += late - late_in(inputs);
    }
    EXPECT_NE(late_by_idleness, 0U);
}

template <class Joined>
Answers answers_of(Graph& graph, Joined joined, const RunOptions& options, std::uint64_t late = 0) {
    auto answers = std::make_shared<Collected<Priced>>();
    std::move(joined).sink([answers](const Priced& one) { answers->add(one); });
    EXPECT_EQ(late_in(run(graph, options)), late);
    Answers result;
    for (const Priced& one : answers->records()) result[one.key].push_back(one.pair);
    return result;
}

/// The right records come from two sources, and which of equal time comes last depends on the run.
TEST(AsOfJoin, AFunctionChoosesWhichOfEqualTimeCounts) {
    for (const std::uint64_t seed : test::seeds(12)) {
        const Inputs inputs = punctual(random_trades(seed));
        std::vector<Order> halves[2];
        for (const Order& order : inputs.orders) {
            halves[order.number % 2].push_back(order);
        }
        const AsOfOptions options = options_of(seed);
        // Digits in another order than that of the numbers.
        const auto tie = [](const Order& order) { return order.number * 7 % 1'009; };
        Graph graph{"ties"};
        const auto timed = [&graph](const auto& records) {
            return graph.source(replay(records))
                .event_time([](const auto& record) { return record.time; }, BoundedDisorder{50ns});
        };
        auto joined = timed(inputs.events)
                          .as_of(timed(halves[0]).merge(timed(halves[1])), keys.ties_by(tie),
                                 make_priced, options);
        ASSERT_EQ(answers_of(graph, std::move(joined), run_options(seed)),
                  searched(inputs, options,
                           [&](const Order& a, const Order& b) { return tie(a) < tie(b); }))
            << "seed " << seed;
    }
}

/// A right record within the disorder is met although the left one and later ones were there first.
TEST(AsOfJoin, AnswersWhenTheWatermarkHasPassed) {
    Graph graph{"waits"};
    auto [events, event_stream] = graph.inlet<Event>();
    auto [orders, order_stream] = graph.inlet<Order>();
    auto outlet = std::move(event_stream)
                      .event_time<&Event::time>(MonotonousTime{})
                      .as_of(std::move(order_stream).event_time<&Order::time>(BoundedDisorder{5ns}),
                             keys, make_priced)
                      .outlet();
    Running running = start(graph, {.workers = 2});
    ASSERT_TRUE(events.push({1, at(10), 1}));
    ASSERT_TRUE(orders.push({1, 2, at(8)}));
    ASSERT_TRUE(orders.push({1, 3, at(14)}));
    ASSERT_TRUE(orders.push({1, 4, at(9)}));
    ASSERT_TRUE(events.push({1, at(20), 5}));
    ASSERT_TRUE(orders.push({1, 6, at(16)}));
    EXPECT_EQ(outlet.pop().value().pair, (Pair{1, 4})) << "at a watermark of 11";
    events.close();
    orders.close();
    EXPECT_EQ(outlet.pop().value().pair, (Pair{5, 6})) << "at the end";
    EXPECT_FALSE(outlet.pop());
    running.wait();
}

TEST(AsOfJoin, DropsWhatWaitsAtTheEndWhereAskedFor) {
    std::size_t dropped = 0;
    for (const std::uint64_t seed : test::seeds(6)) {
        const Inputs inputs = punctual(random_trades(seed));
        AsOfOptions options = options_of(seed);
        options.at_end = OpenWindows::drop;
        EventTime end = EventTime::earliest();
        for (const Event& event : inputs.events) end = std::max(end, event.time);
        for (const Order& order : inputs.orders) end = std::max(end, order.time);
        Inputs passed = inputs;
        dropped +=
            std::erase_if(passed.events, [end](const Event& event) { return event.time >= end; });
        Graph graph{"drop"};
        Sides sides = replayed(graph, inputs);
        ASSERT_EQ(
            answers_of(
                graph,
                std::move(sides.events).as_of(std::move(sides.orders), keys, make_priced, options),
                run_options(seed)),
            searched(passed, options))
            << "seed " << seed;
    }
    EXPECT_NE(dropped, 0U);
}

/// No answer is behind the watermark that comes with it.
TEST(AsOfJoin, WindowsBehindItLoseNothing) {
    for (const std::uint64_t seed : test::seeds(6)) {
        const Inputs inputs = random_trades(seed);
        AsOfOptions options = options_of(seed);
        options.kind = JoinKind::left;
        std::map<std::pair<std::uint32_t, std::int64_t>, std::uint64_t> counts;
        for (const Event& event : punctual(inputs).events) {
            const std::int64_t ns = event.time.ns() + 1'000'000;  // positive
            ++counts[{event.key, ns / 100 * 100 - 1'000'000}];
        }
        Graph graph{"windows"};
        Sides sides = replayed(graph, inputs);
        std::map<std::pair<std::uint32_t, std::int64_t>, std::uint64_t> counted;
        as_of(std::move(sides.events), std::move(sides.orders), keys, make_priced, options)
            .timed_by<&Priced::time>()
            .key_by<&Priced::key>()
            .window(TimeWindows::tumbling(100ns), window::count())
            .sink([&counted](const auto& row) {
                counted[{row.key, row.window.start.ns()}] += row.value;
            });
        const RunReport report = run(graph, run_options(seed));
        ASSERT_EQ(counted, counts) << "seed " << seed;
        ASSERT_EQ(late_in(report), late_in(inputs)) << "the windows have late records, too";
    }
}

TEST(AsOfJoin, AtTheLimitsOfTime) {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    Inputs inputs;
    std::int64_t number = 0;
    for (const std::int64_t ns : {least, least + 1, least + 60, std::int64_t{0}, most - 1, most}) {
        inputs.events.push_back({1, at(ns), number});
        inputs.orders.push_back({1, number++, at(ns)});
    }
    // The place of a time is what it meets, or the one before.
    const auto expected = [](std::vector<std::int64_t> met) {
        Answers answers;
        for (std::size_t i = 0; i < met.size(); ++i) {
            answers[1].push_back({static_cast<std::int64_t>(i), met[i]});
        }
        return answers;
    };
    const auto joined = [&](std::uint64_t seed, AsOfOptions options) {
        options.kind = JoinKind::left;
        Graph graph{"limits"};
        Sides sides = replayed(graph, inputs);
        return answers_of(
            graph,
            std::move(sides.events).as_of(std::move(sides.orders), keys, make_priced, options),
            run_options(seed));
    };
    for (const std::uint64_t seed : test::seeds(4)) {
        for (const auto tolerance : {std::optional<Duration>{}, std::optional{Duration::max()},
                                     std::optional<Duration>{0ns}}) {
            EXPECT_EQ(joined(seed, {.tolerance = tolerance}), expected({0, 1, 2, 3, 4, 5}));
        }
        for (const auto tolerance : {std::optional<Duration>{}, std::optional{Duration::max()}}) {
            EXPECT_EQ(joined(seed, {.tolerance = tolerance, .matches_equal = false}),
                      expected({-1, 0, 1, 2, 3, 4}));
        }
        EXPECT_EQ(joined(seed, {.tolerance = 1ns, .matches_equal = false}),
                  expected({-1, 0, -1, -1, -1, 4}));
    }
}

template <class F>
std::string refusal(F combine, const AsOfOptions& options) {
    Graph graph{"refused"};
    Sides sides = replayed(graph, {});
    try {
        (void)as_of(std::move(sides.events), std::move(sides.orders), keys, combine, options);
    } catch (const GraphError& error) {
        return error.what();
    }
    return "";
}

TEST(AsOfJoin, WhatItRefuses) {
    const auto of_both = [](const Event& event, const Order&) { return event.value; };
    const auto contains = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    EXPECT_TRUE(contains(refusal(of_both, {.kind = JoinKind::full}), "inner or left"));
    EXPECT_TRUE(contains(refusal(make_pair, {.kind = JoinKind::full}), "inner or left"));
    EXPECT_TRUE(contains(refusal(of_both, {.kind = JoinKind::left}), "pointer"));
    EXPECT_TRUE(contains(refusal(of_both, {.tolerance = -1ns}), "tolerance"));
    EXPECT_TRUE(contains(refusal(of_both, {.lateness = -1ns}), "lateness"));
}

}  // namespace
}  // namespace strid
