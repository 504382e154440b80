// SPDX-License-Identifier: Apache-2.0
//
// Joins that give their late records as streams of their own: nothing is lost, and nothing comes
// out twice.
#include <memory>

#include "joins.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// Those that a stream does not take, by what is told apart of them.
template <class Record, class Number>
std::vector<std::int64_t> late_among(const std::vector<Record>& records, const Number& number) {
    std::vector<std::int64_t> late;
    EventTime latest = EventTime::earliest();
    for (const Record& record : records) {
        if (record.time < latest - 50ns) late.push_back(std::invoke(number, record));
        latest = std::max(latest, record.time);
    }
    return late;
}
template <class Record, class Number>
std::vector<std::int64_t> sorted_numbers(const Collected<Record>& records, const Number& number) {
    std::vector<std::int64_t> numbers;
    for (const Record& record : records.records()) numbers.push_back(std::invoke(number, record));
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

/// What three streams of a join collect.
struct WithLate {
    std::shared_ptr<Collected<Event>> events = std::make_shared<Collected<Event>>();
    std::shared_ptr<Collected<Order>> orders = std::make_shared<Collected<Order>>();

    template <class Streams, class Take>
    void collect(Streams streams, const Take& take) const {
        std::move(streams.pairs).sink(take);
        std::move(streams.late_left).sink(collect_into(events));
        std::move(streams.late_right).sink(collect_into(orders));
    }
};

TEST(IntervalJoin, GivesItsLateRecordsToo) {
    for (const std::uint64_t seed : test::seeds(12)) {
        const Inputs inputs = random_inputs(seed, perturbed ? 300 : 1'500);
        const JoinKind kind = seed % 2 == 0 ? JoinKind::inner : JoinKind::full;
        auto pairs = std::make_shared<Collected<Pair>>();
        const WithLate late;
        Graph graph{"join"};
        late.collect(
            interval_join_with_late(
                graph.source(replay(inputs.events)).event_time(&Event::time, BoundedDisorder{50ns}),
                graph.source(replay(inputs.orders)).event_time(&Order::time, BoundedDisorder{50ns}),
                on(&Event::key, &Event::time), on(&Order::buyer, &Order::time), {{-20ns}, {30ns}},
                make_pair, {.name = "join", .kind = kind}),
            collect_into(pairs));
        const RunReport report = run(graph, run_options(seed));
        auto result = pairs->records();
        std::sort(result.begin(), result.end());
        ASSERT_EQ(result, nested_loops(inputs, -20, 30, kind)) << "seed " << seed;
        ASSERT_EQ(sorted_numbers(*late.events, &Event::value),
                  late_among(inputs.events, &Event::value))
            << "seed " << seed;
        ASSERT_EQ(sorted_numbers(*late.orders, &Order::number),
                  late_among(inputs.orders, &Order::number))
            << "seed " << seed;
        ASSERT_EQ(report.find("join")->records_late, late_in(inputs));
    }
}

/// Among the late ones are only such as broke their promise; all pairs of the others come out, and
/// none with a record that came out as late.
TEST(WindowJoin, GivesItsLateRecordsToo) {
    const TimeWindows windows = sliding(100, 40);
    std::size_t late_records = 0;
    for (const std::uint64_t seed : test::seeds(12)) {
        Inputs inputs = random_inputs(seed, perturbed ? 300 : 1'000);
        auto pairs = std::make_shared<Collected<InWindow>>();
        const WithLate late;
        Graph graph{"join"};
        late.collect(
            window_join_with_late(
                graph.source(replay(inputs.events)).event_time(&Event::time, BoundedDisorder{50ns}),
                graph.source(replay(inputs.orders)).event_time(&Order::time, BoundedDisorder{50ns}),
                on(&Event::key, &Event::time), on(&Order::buyer, &Order::time), windows, make_pair,
                {.name = "join"}),
            [pairs](const auto& one) {
                pairs->add({one.window.start.ns(), one.value});
            });
        const RunReport report = run(graph, run_options(seed));
        const auto late_events = sorted_numbers(*late.events, &Event::value);
        const auto late_orders = sorted_numbers(*late.orders, &Order::number);
        late_records += late_events.size() + late_orders.size();
        ASSERT_EQ(report.find("join")->records_late, late_events.size() + late_orders.size());
        const Inputs in_time{punctual(inputs.events), punctual(inputs.orders)};
        const auto least = loops_over_windows(in_time, windows, JoinKind::inner);
        const auto broke_promise = late_among(inputs.events, &Event::value);
        ASSERT_TRUE(std::includes(broke_promise.begin(), broke_promise.end(), late_events.begin(),
                                  late_events.end()))
            << "seed " << seed;
        std::erase_if(inputs.events, [&](const Event& event) {
            return std::binary_search(late_events.begin(), late_events.end(), event.value);
        });
        std::erase_if(inputs.orders, [&](const Order& order) {
            return std::binary_search(late_orders.begin(), late_orders.end(), order.number);
        });
        auto answer = pairs->records();
        std::sort(answer.begin(), answer.end());
        ASSERT_TRUE(std::includes(answer.begin(), answer.end(), least.begin(), least.end()))
            << "seed " << seed;
        const auto most = loops_over_windows(inputs, windows, JoinKind::inner);
        ASSERT_TRUE(std::includes(most.begin(), most.end(), answer.begin(), answer.end()))
            << "seed " << seed;
    }
    EXPECT_NE(late_records, 0U);
}

}  // namespace
}  // namespace strid
