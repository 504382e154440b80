// SPDX-License-Identifier: Apache-2.0
//
// Event time while a stream is silent, and what goes wrong in a window: watermarks that travel
// without records, a source that nobody waits for, a window function that throws.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// The next result, waited for while the graph runs.
template <class T>
std::optional<T> pop_within(Outlet<T>& outlet, std::chrono::seconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < until) {
        if (auto record = outlet.try_pop()) return record;
        std::this_thread::sleep_for(1ms);
    }
    return std::nullopt;
}

TEST(EventTime, TravelsToReplicasThatNoRecordGoesTo) {
    Graph graph{"travels"};
    auto [inlet, stream] = graph.inlet<Event>();
    auto outlet = std::move(stream)
                      .event_time(&Event::time, MonotonousTime{})
                      .key_by<&Event::key>()
                      .window(sliding(10, 10), &Event::time, sum, {.parallelism = 4})
                      .outlet();
    Running running = start(graph, {.workers = 2});
    // Each key in the first window; then time goes on by one key alone, and no stream ends.
    for (std::uint32_t key = 0; key < 20; ++key) ASSERT_TRUE(inlet.push({key, at(5), 1}));
    ASSERT_TRUE(inlet.push({0, at(25), 1}));
    for (int fired = 0; fired < 20; ++fired) {
        const auto result = pop_within(outlet, 30s);
        ASSERT_TRUE(result) << "only " << fired << " windows fired";
        EXPECT_EQ(result->window.end, at(10));
    }
    inlet.close();
    EXPECT_EQ(outlet.pop().value().window.end, at(30));
    EXPECT_FALSE(outlet.pop());
    running.wait();
}

TEST(EventTime, DoesNotWaitForASourceThatIsIdle) {
    Graph graph{"idle"};
    auto [silent, silent_stream] = graph.inlet<Event>();
    auto [busy, busy_stream] = graph.inlet<Event>();
    auto outlet = std::move(silent_stream)
                      .event_time(&Event::time, MonotonousTime{}, {.idle_after = 20ms})
                      .merge(std::move(busy_stream).event_time(&Event::time, MonotonousTime{}))
                      .key_by<&Event::key>()
                      .window(sliding(10, 10), &Event::time, sum, {.name = "window"})
                      .outlet();
    Running running = start(graph, {.workers = 2});
    ASSERT_TRUE(busy.push({1, at(5), 7}));
    ASSERT_TRUE(busy.push({1, at(15), 1}));
    const auto first = pop_within(outlet, 30s);
    ASSERT_TRUE(first) << "the silent source held everybody back";
    EXPECT_EQ(first->value, 7);
    // It wakes up: from now on it counts again. Had all others ended before, it would be late.
    ASSERT_TRUE(silent.push({2, at(16), 1}));
    while (running.report().find("window")->records_in != 3) std::this_thread::sleep_for(1ms);
    busy.close();
    silent.close();
    EXPECT_EQ(outlet.pop().value().window.start, at(10));
    EXPECT_EQ(outlet.pop().value().window.start, at(10));
    EXPECT_FALSE(outlet.pop());
    running.wait();
}

TEST(EventTime, ASourceThatIsNotIdleHoldsWindowsBack) {
    Graph graph{"held back"};
    auto [silent, silent_stream] = graph.inlet<Event>();
    auto [busy, busy_stream] = graph.inlet<Event>();
    auto outlet = std::move(silent_stream)
                      .event_time(&Event::time, MonotonousTime{})
                      .merge(std::move(busy_stream).event_time(&Event::time, MonotonousTime{}))
                      .key_by<&Event::key>()
                      .window(sliding(10, 10), &Event::time, sum)
                      .outlet();
    Running running = start(graph, {.workers = 2});
    ASSERT_TRUE(busy.push({1, at(5), 7}));
    ASSERT_TRUE(busy.push({1, at(95), 1}));
    std::this_thread::sleep_for(50ms);
    EXPECT_FALSE(outlet.try_pop());
    ASSERT_TRUE(silent.push({1, at(6), 1}));  // in the same window, and not late
    ASSERT_TRUE(silent.push({1, at(50), 1}));
    const auto first = pop_within(outlet, 30s);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->value, 8);
    busy.close();
    silent.close();
    running.wait();
}

/// Of two sources with the same times the one that is not asked for waits for the other: what it is
/// ahead by is what the alignment allows, and one poll.
TEST(EventTime, AlignedSourcesKeepStep) {
    constexpr std::int64_t drift = 1'000;
    constexpr std::int64_t poll = 10'000;
    std::vector<Event> events;
    for (std::int64_t i = 0; i < 100'000; ++i) events.push_back({1, at(i), 1});
    Graph graph{"step"};
    const Alignment alignment{Duration{drift}};
    auto [slow, slow_stream] = graph.inlet<Event>();
    auto ahead = std::make_shared<std::atomic<std::int64_t>>(0);
    graph.source(replay(events))
        .event_time(&Event::time, MonotonousTime{})
        .aligned(alignment)
        .map([ahead](const Event& event) {
            *ahead = event.time.ns();
            return event;
        })
        .merge(std::move(slow_stream).event_time(&Event::time, MonotonousTime{}).aligned(alignment))
        .sink([](const Event&) {});
    Running running = start(graph, {.workers = 2});
    std::this_thread::sleep_for(30ms);
    EXPECT_LE(*ahead, poll) << "nothing is known of the other";
    for (const std::int64_t time : {20'000, 50'000}) {
        ASSERT_TRUE(slow.push({2, at(time), 1}));
        const auto until = std::chrono::steady_clock::now() + 30s;
        while (*ahead < time && std::chrono::steady_clock::now() < until) {
            std::this_thread::sleep_for(1ms);
        }
        EXPECT_GE(*ahead, time);
        std::this_thread::sleep_for(10ms);
        EXPECT_LE(*ahead, time + drift + poll);
    }
    slow.close();
    EXPECT_EQ(running.wait().records_in(), 100'002U);
}

/// A strategy that takes back what it said.
struct Fickle {
    template <class T>
    void observe(const T&, EventTime time) noexcept {
        latest = time;
    }
    [[nodiscard]] EventTime watermark() const noexcept { return latest; }
    EventTime latest = EventTime::earliest();
};

TEST(EventTime, AStrategyThatGoesBackIsRefusedByName) {
    for (const std::uint64_t seed : test::seeds(4)) {
        Graph graph{"fickle"};
        graph.source(replay(std::vector<Event>{{1, at(10), 0}, {1, at(20), 0}, {1, at(15), 0}}))
            .event_time(&Event::time, Fickle{}, {.name = "time"})
            .key_by<&Event::key>()
            .window(sliding(10, 10), &Event::time, sum)
            .sink([](const auto&) {});
        try {
            run(graph, run_options(seed));
            FAIL() << "nothing was refused";
        } catch (const OperatorError& error) {
            EXPECT_STREQ(error.what(),
                         "operator 'time': a watermark goes back: from 20 ns to 15 ns");
        }
    }
}

TEST(EventTime, TimesThatMakeNoSenseAreRefused) {
    Graph graph{"negative"};
    const auto source = [&graph] { return graph.source(replay(std::vector<Event>{})); };
    EXPECT_THROW((void)source().event_time(&Event::time, MonotonousTime{}, {.idle_after = -1ns}),
                 GraphError);
    EXPECT_THROW((void)source()
                     .event_time(&Event::time, MonotonousTime{})
                     .key_by<&Event::key>()
                     .window(sliding(10, 10), &Event::time, sum, {.lateness = -1ns}),
                 GraphError);
}

TEST(Windows, AFunctionThatThrowsNamesItsOperator) {
    for (const std::uint64_t seed : test::seeds(6)) {
        const auto thrower = window::sum<Event>([](const Event& event) -> std::int64_t {
            if (event.value == 300) throw std::runtime_error("no threes here");
            return event.value;
        });
        auto events = random_events(seed, {}, 500);
        events[seed % 6 * 90].value = 300;
        Graph graph{"throws"};
        graph.source(replay(events))
            .event_time(&Event::time, BoundedDisorder{Duration{500}})
            .key_by<&Event::key>()
            .window(sliding(10, 10), &Event::time, thrower, {.name = "sums"})
            .sink([](const auto&) {});
        try {
            run(graph, run_options(seed));
            FAIL() << "nothing was thrown";
        } catch (const OperatorError& error) {
            EXPECT_STREQ(error.what(), "operator 'sums': no threes here");
        }
    }
}

}  // namespace
}  // namespace strid
