// SPDX-License-Identifier: Apache-2.0
//
// Event time while a stream is silent, and what goes wrong in a window: watermarks that travel
// without records, an idle source that no operator waits for, a window function that throws.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include <strid/operator/aligned.hpp>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// For ever where they do not come.
void until_records_in(const Running& running, const char* name, std::uint64_t count) {
    while (running.report().find(name)->records_in != count) std::this_thread::yield();
}

TEST(EventTime, TravelsToReplicasThatNoRecordGoesTo) {
    Graph graph{"travels"};
    auto [inlet, stream] = graph.inlet<Event>();
    auto outlet = std::move(stream)
                      .event_time<&Event::time>(MonotonousTime{})
                      .key_by<&Event::key>()
                      .window(sliding(10, 10), sum, {.parallelism = 4})
                      .outlet();
    Running running = start(graph, {.workers = 2});
    // Each key in the first window; then time goes on by one key alone, and no stream ends.
    for (std::uint32_t key = 0; key < 20; ++key) ASSERT_TRUE(inlet.push({key, at(5), 1}));
    ASSERT_TRUE(inlet.push({0, at(25), 1}));
    for (int fired = 0; fired < 20; ++fired) {
        const auto result = outlet.pop();
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
                      .event_time<&Event::time>(MonotonousTime{}, {.idle_after = 20ms})
                      .merge(std::move(busy_stream).event_time<&Event::time>(MonotonousTime{}))
                      .key_by<&Event::key>()
                      .window(sliding(10, 10), sum, {.name = "window"})
                      .outlet();
    Running running = start(graph, {.workers = 2});
    ASSERT_TRUE(busy.push({1, at(5), 7}));
    ASSERT_TRUE(busy.push({1, at(15), 1}));
    const auto first = outlet.pop();
    ASSERT_TRUE(first) << "the silent source held everybody back";
    EXPECT_EQ(first->value, 7);
    // It wakes up: from now on it counts again. Had all others ended before, it would be late.
    ASSERT_TRUE(silent.push({2, at(16), 1}));
    until_records_in(running, "window", 3);
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
                      .event_time<&Event::time>(MonotonousTime{})
                      .merge(std::move(busy_stream).event_time<&Event::time>(MonotonousTime{}))
                      .key_by<&Event::key>()
                      .window(sliding(10, 10), sum, {.name = "window"})
                      .outlet();
    Running running = start(graph, {.workers = 2});
    ASSERT_TRUE(busy.push({1, at(5), 7}));
    ASSERT_TRUE(busy.push({1, at(95), 1}));
    until_records_in(running, "window", 2);
    EXPECT_FALSE(outlet.try_pop());
    ASSERT_TRUE(silent.push({1, at(6), 1}));  // in the same window, and not late
    ASSERT_TRUE(silent.push({1, at(50), 1}));
    const auto first = outlet.pop();
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
    std::atomic<std::int64_t> ahead{-1};
    std::atomic<std::int64_t> allowed{poll};  // nothing is known of the other
    std::atomic<bool> went_too_far{false};
    graph.source(replay(events))
        .event_time<&Event::time>(MonotonousTime{})
        .apply(aligned(alignment))
        .map([&](const Event& event) {
            ahead = event.time.ns();
            if (ahead > allowed) went_too_far = true;
            return event;
        })
        .merge(std::move(slow_stream)
                   .event_time<&Event::time>(MonotonousTime{})
                   .apply(aligned(alignment)))
        .sink([](const Event&) {});
    Running running = start(graph, {.workers = 2});
    const auto until_at = [&ahead](std::int64_t time) {
        while (ahead < time) std::this_thread::yield();  // for ever where it is not let go on
        for (int i = 0; i < 100; ++i) std::this_thread::yield();  // one that is not held goes on
    };
    until_at(0);
    for (const std::int64_t time : {20'000, 50'000}) {
        allowed = time + drift + poll;
        ASSERT_TRUE(slow.push({2, at(time), 1}));
        until_at(time);
    }
    allowed = std::ssize(events);
    slow.close();
    EXPECT_EQ(running.wait().records_in(), 100'002U);
    EXPECT_FALSE(went_too_far);
}

/// A strategy whose watermark goes back.
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
            .event_time<&Event::time>(Fickle{}, {.name = "time"})
            .key_by<&Event::key>()
            .window(sliding(10, 10), sum)
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
    EXPECT_THROW((void)source().event_time<&Event::time>(MonotonousTime{}, {.idle_after = -1ns}),
                 GraphError);
    EXPECT_THROW((void)source()
                     .event_time<&Event::time>(MonotonousTime{})
                     .key_by<&Event::key>()
                     .window(sliding(10, 10), sum, {.lateness = -1ns}),
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
            .event_time<&Event::time>(BoundedDisorder{Duration{500}})
            .key_by<&Event::key>()
            .window(sliding(10, 10), thrower, {.name = "sums"})
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
