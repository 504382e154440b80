// SPDX-License-Identifier: Apache-2.0
//
// The time in the type of a stream (design note 0016): it stays with records of one type,
// those of another have their own or none, and it passes through functions of stored streams.
#include <concepts>
#include <utility>
#include <vector>

#include <strid/operator/time_order.hpp>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

struct Priced {
    EventTime at;
    std::int64_t price;
};

struct Two {
    int key;
    EventTime sent;
    EventTime received;
};

template <class S>
using TimeOf = typename std::remove_cvref_t<S>::time_type;
using ByTime = Field<&Event::time>;

auto events(Graph& graph, const std::vector<Event>& all = {}) {
    return graph.source(replay(all)).event_time<&Event::time>(MonotonousTime{});
}
const auto priced = [](const Event& event) { return Priced{event.time, event.value}; };

TEST(StreamTime, StaysWithRecordsOfOneType) {
    Graph graph{"times"};
    const auto keeps = [](auto stream) {
        static_assert(std::same_as<TimeOf<decltype(stream)>, ByTime>);
        std::move(stream).sink([](const auto&) {});
    };
    keeps(events(graph).filter([](const Event&) { return true; }));
    keeps(events(graph).map([](Event& event) { ++event.value; }));
    keeps(events(graph).rebalance());
    keeps(events(graph).separate());
    keeps(events(graph).merge(events(graph), events(graph)));
    keeps(events(graph).apply(in_order_of_time()));
    keeps(events(graph).key_by<&Event::key>().filter([](const Event&) { return true; }));
    keeps(events(graph).split(1, [](const Event&) { return 0U; }).select(0));
    auto [one, other] = events(graph).tee<2>();
    keeps(std::move(one));
    keeps(std::move(other));
    auto [results, late] =
        events(graph).key_by<&Event::key>().window(sliding(10, 10), sum, late_apart);
    keeps(std::move(late));
    static_assert(std::same_as<TimeOf<decltype(results)>, OwnTime>);
    std::move(results).sink([](const auto&) {});
    run(graph);
}

TEST(StreamTime, IsTheirOwnOrNoneOfRecordsOfAnotherType) {
    Graph graph{"times"};
    static_assert(
        std::same_as<TimeOf<decltype(graph.source(replay(std::vector<Event>{})))>, NoTime>);
    static_assert(std::same_as<TimeOf<decltype(events(graph).map(priced))>, NoTime>);
    static_assert(std::same_as<TimeOf<decltype(events(graph).map(priced).timed_by<&Priced::at>())>,
                               Field<&Priced::at>>);
    static_assert(std::same_as<TimeOf<decltype(events(graph).ingress_time())>, OwnTime>);
    static_assert(
        std::same_as<TimeOf<decltype(events(graph).window(sliding(10, 10), sum))>, OwnTime>);
    // Windows of counts have no time.
    static_assert(
        std::same_as<TimeOf<decltype(events(graph).window(CountWindows::tumbling(2), sum))>,
                     NoTime>);
    // Where it is not known of all, it is not of the whole.
    static_assert(
        std::same_as<TimeOf<decltype(events(graph).merge(std::declval<Stream<Event>>()))>, NoTime>);
}

EventTime sent_at(const Two& two) {
    return two.sent;
}
EventTime received_at(const Two& two) {
    return two.received;
}

/// Pointers to functions are distinguished when the graph is built.
TEST(StreamTime, OfMergedStreamsIsOne) {
    Graph graph{"merged"};
    const auto by = [&](EventTime (*time)(const Two&)) {
        return graph.source(replay(std::vector<Two>{})).event_time(time, MonotonousTime{});
    };
    EXPECT_NO_THROW((void)by(&sent_at).merge(by(&sent_at)));
    EXPECT_THROW((void)by(&sent_at).merge(by(&received_at)), GraphError);
    const auto keyed = [&](EventTime (*time)(const Two&)) { return by(time).key_by<&Two::key>(); };
    EXPECT_NO_THROW((void)keyed(&sent_at).merge(keyed(&sent_at)));
    EXPECT_THROW((void)keyed(&sent_at).merge(keyed(&received_at)), GraphError);
}

/// Functions that would be in files of their own.
Stream<Priced> prices_of(TimedStream<Event, &Event::time> all) {
    return std::move(all).map(priced);
}
StreamTimedBy<WindowResult<std::uint32_t, std::int64_t>, OwnTime> sums_of(
    TimedStream<Event, &Event::time> all) {
    return std::move(all).key_by<&Event::key>().window(sliding(10, 10), sum);
}

TEST(StreamTime, PassesThroughFunctionsOfStoredStreams) {
    std::vector<Event> all;
    for (std::int64_t i = 0; i != 100; ++i) all.push_back({0, at(i), i});
    Graph graph{"passed"};
    auto first = std::make_shared<Collected<std::int64_t>>();
    auto second = std::make_shared<Collected<std::int64_t>>();
    prices_of(events(graph, all))
        .timed_by<&Priced::at>()
        .key_by([](const Priced&) { return 0; })
        .window(sliding(50, 50), window::sum<&Priced::price>())
        .sink([first](const auto& result) { first->add(result.value); });
    sums_of(events(graph, all))
        .window(sliding(50, 50), window::count())
        .sink([second](const auto& r) { second->add(static_cast<std::int64_t>(r.value)); });
    run(graph);
    EXPECT_EQ(first->records(), (std::vector<std::int64_t>{49 * 50 / 2, 149 * 50 / 2}));
    EXPECT_EQ(second->records(), (std::vector<std::int64_t>{5, 5}));
}

}  // namespace
}  // namespace strid
