// SPDX-License-Identifier: Apache-2.0
//
// Joins with a lateness, by key and shared by window: a record within the lateness is joined with
// all its partners, each pair comes out once, and a record beyond the lateness is late.
#include <array>
#include <chrono>

#include "late_joins.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

constexpr Duration latenesses[] = {1ns, 100ns, 10'000ns};

TEST(IntervalJoin, TakesWhatComesWithinTheLateness) {
    std::size_t late = 0;
    std::size_t taken_late = 0;
    for (const Shared shared : both_ways) {
        for (const std::uint64_t seed : test::seeds(12)) {
            const Inputs inputs = random_inputs(seed, perturbed ? 300 : 1'500);
            const Duration lateness = latenesses[seed / 4 % 3];
            const JoinOptions options{
                .name = "join", .kind = kind_of(seed, shared), .lateness = lateness};
            const Inputs taken = punctual(inputs, lateness);
            late += late_in(inputs, lateness);
            taken_late += late_in(inputs) - late_in(inputs, lateness);
            Graph graph{"join"};
            const auto outcome =
                interval_outcome(graph, replayed(graph, inputs), shared, options, inputs, seed);
            ASSERT_EQ(outcome.pairs, pairs_of(taken, -20, 30, options.kind)) << "seed " << seed;
            ASSERT_EQ(outcome.late_events, late_among(inputs.events, &Event::value, lateness))
                << "seed " << seed;
            ASSERT_EQ(outcome.late_orders, late_among(inputs.orders, &Order::number, lateness))
                << "seed " << seed;
        }
    }
    EXPECT_NE(late, 0U);
    EXPECT_NE(taken_late, 0U);
}

bool is_alone(const InWindow& one) {
    return one.second.left == -1 || one.second.right == -1;
}
std::vector<InWindow> those(std::vector<InWindow> pairs, bool alone) {
    std::erase_if(pairs, [alone](const InWindow& one) { return is_alone(one) != alone; });
    return pairs;
}

/// Windows fire again, and still each pair comes out once. A record that has a partner in the end
/// may have come out alone before.
TEST(WindowJoin, GivesEachPairOnceHoweverLateItComes) {
    const TimeWindows windows = sliding(100, 100);
    std::size_t taken_late = 0;
    for (const Shared shared : both_ways) {
        for (const std::uint64_t seed : test::seeds(12)) {
            const Inputs inputs = random_inputs(seed, perturbed ? 300 : 1'500);
            const Duration lateness = latenesses[seed / 4 % 3];
            const JoinOptions options{
                .name = "join", .kind = kind_of(seed, Shared::by_key), .lateness = lateness};
            Graph graph{"join"};
            const auto outcome = window_outcome(graph, replayed(graph, inputs), shared, windows,
                                                options, inputs, seed);
            const auto expected = loops_over_windows(outcome.taken, windows, options.kind);
            ASSERT_EQ(those(outcome.pairs, false), those(expected, false)) << "seed " << seed;
            const auto alone = those(outcome.pairs, true);
            const auto alone_at_last = those(expected, true);
            ASSERT_TRUE(std::includes(alone.begin(), alone.end(), alone_at_last.begin(),
                                      alone_at_last.end()))
                << "seed " << seed;
            ASSERT_EQ(std::adjacent_find(alone.begin(), alone.end()), alone.end())
                << "seed " << seed;
            const auto beyond = late_among(inputs.events, &Event::value, lateness);
            ASSERT_TRUE(std::includes(beyond.begin(), beyond.end(), outcome.late_events.begin(),
                                      outcome.late_events.end()))
                << "seed " << seed;
            taken_late += late_in(inputs) - outcome.late();
        }
    }
    EXPECT_NE(taken_late, 0U);
}

/// A window that has fired for sure: its pairs have come out, what comes late brings its own.
TEST(WindowJoin, AWindowThatFiresAgainGivesWhatIsNew) {
    for (const Shared shared : both_ways) {
        Graph graph{"again"};
        auto [events, event_stream] = graph.inlet<Event>();
        auto [orders, order_stream] = graph.inlet<Order>();
        const auto join = [&, &events_ = event_stream, &orders_ = order_stream](auto how) {
            return how(std::move(events_).event_time<&Event::time>(MonotonousTime{}),
                       std::move(orders_).event_time<&Order::time>(MonotonousTime{}));
        };
        const JoinOptions options{.parallelism = 2, .kind = JoinKind::full, .lateness = 100ns};
        const TimeWindows windows = sliding(10, 10);
        auto [pairs, late_events, late_orders] = join([&](auto lefts, auto rights) {
            return shared == Shared::by_key
                       ? std::move(lefts).join(std::move(rights), keys, windows, make_pair,
                                               share::by_key | late_apart, options)
                       : std::move(lefts).join(std::move(rights), keys, windows, make_pair,
                                               late_apart | share::farmed, options);
        });
        auto joined = std::move(pairs).outlet();
        auto late = std::move(late_events).outlet();
        std::move(late_orders).sink([](const Order&) {});
        Running running = start(graph, {.workers = 2});
        const auto next = [&joined] { return in_window(joined.pop().value()); };
        const auto time_is = [&](std::int64_t time) {
            ASSERT_TRUE(events.push({9, at(time), 900 + time}));
            ASSERT_TRUE(orders.push({9, 900 + time, at(time)}));
        };
        ASSERT_TRUE(events.push({1, at(5), 1}));
        ASSERT_TRUE(orders.push({1, 2, at(6)}));
        time_is(20);
        ASSERT_EQ(next(), (InWindow{0, {1, 2}}));
        ASSERT_TRUE(events.push({1, at(7), 3}));
        ASSERT_EQ(next(), (InWindow{0, {3, 2}})) << "and not the pair before again";
        ASSERT_TRUE(orders.push({1, 4, at(8)}));
        std::array<InWindow, 2> two{next(), next()};
        std::sort(two.begin(), two.end());
        ASSERT_EQ(two, (std::array<InWindow, 2>{{{0, {1, 4}}, {0, {3, 4}}}}));
        ASSERT_TRUE(events.push({5, at(9), 5}));
        ASSERT_EQ(next(), (InWindow{0, {5, -1}})) << "no match is there yet";
        ASSERT_TRUE(orders.push({5, 6, at(9)}));
        ASSERT_EQ(next(), (InWindow{0, {5, 6}})) << "who was alone gets a partner";
        time_is(110);
        ASSERT_EQ(next(), (InWindow{20, {920, 920}}));
        ASSERT_TRUE(events.push({1, at(9), 7}));
        ASSERT_EQ(late.pop().value().value, 7);
        events.close();
        orders.close();
        ASSERT_EQ(next(), (InWindow{110, {1'010, 1'010}}));
        ASSERT_FALSE(joined.pop());
        running.wait();
    }
}

TEST(Joins, ANegativeLatenessIsRefused) {
    const auto refused = [](Shared shared, bool by_interval) {
        Graph graph{"negative"};
        const JoinOptions options{.lateness = -1ns};
        if (by_interval) {
            (void)interval_outcome(graph, replayed(graph, {}), shared, options, {}, 0);
        } else {
            (void)window_outcome(graph, replayed(graph, {}), shared, sliding(10, 10), options, {},
                                 0);
        }
    };
    for (const Shared shared : both_ways) {
        EXPECT_THROW(refused(shared, true), GraphError);
        EXPECT_THROW(refused(shared, false), GraphError);
    }
}

}  // namespace
}  // namespace strid
