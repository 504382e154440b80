// SPDX-License-Identifier: Apache-2.0
//
// Time of live and of finite streams: InSilence, which goes on by the clock where no record comes,
// AtEnd, which waits for the end of the input, and the guard against records from the future. The
// clock of the strategy and its stage is given here; the graphs run by the machine's.
#include <chrono>
#include <memory>
#include <thread>

#include <strid/operator/ahead_of_clock.hpp>
#include <strid/test/harness.hpp>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

TEST(InSilence, GoesOnByTheClockBehindItsWatermark) {
    InSilence time{BoundedDisorder{Duration{5}}, Duration{10}};
    time.silent_for(Duration{1'000});  // no record has come at all
    EXPECT_EQ(time.watermark(), EventTime::earliest());
    const auto record = [&time](std::int64_t ns) { time.observe(Event{}, at(ns)); };
    record(100);
    EXPECT_EQ(time.watermark(), at(95));
    time.silent_for(Duration{9});
    EXPECT_EQ(time.watermark(), at(95));
    time.silent_for(Duration{10});
    EXPECT_EQ(time.watermark(), at(95));
    time.silent_for(Duration{25});
    EXPECT_EQ(time.watermark(), at(110));
    record(107);  // a watermark never goes back
    EXPECT_EQ(time.watermark(), at(110));
    time.silent_for(Duration{30});
    EXPECT_EQ(time.watermark(), at(102 + 20));
    record(200);
    EXPECT_EQ(time.watermark(), at(195));
    EXPECT_THROW((InSilence{MonotonousTime{}, Duration{-1}}), Error);
    InSilence off{MonotonousTime{}, Duration{0}};
    off.observe(Event{}, at(7));
    off.silent_for(Duration::max());
    EXPECT_EQ(off.watermark(), at(7));
    EXPECT_EQ(off.next_silence(Duration{0}), Duration{0});
}

/// The operator reports to the strategy how long the silence lasts, and asks to be woken for it.
TEST(InSilence, IsNotifiedByItsOperator) {
    using Operator =
        operators::EventTimeOperator<Event, Field<&Event::time>, InSilence<MonotonousTime>>;
    Harness harness{Operator{field<&Event::time>, InSilence{MonotonousTime{}, 80ms}, Duration{0}}};
    const auto ns_behind = [&harness, start = harness.clock()](std::chrono::nanoseconds time) {
        return start.ns() + time.count();
    };
    const auto watermark = [&harness] { return harness.progress().watermark; };
    harness.record({1, at(1'000), 1});
    EXPECT_EQ(watermark(), at(1'000));
    EXPECT_EQ(harness.wake_at_ns(), ns_behind(80ms));
    EXPECT_TRUE(harness.advance_clock(80ms));
    EXPECT_EQ(watermark(), at(1'000));
    EXPECT_EQ(harness.wake_at_ns(), ns_behind(90ms));
    EXPECT_TRUE(harness.advance_clock(10ms));
    EXPECT_EQ(watermark(), at(1'000) + 10ms);
    EXPECT_TRUE(harness.advance_clock(5ms));
    EXPECT_EQ(watermark(), at(1'000) + 15ms);
    EXPECT_FALSE(harness.progress().idle);
    harness.record({1, at(2'000), 1});  // late: nothing else is known of it
    EXPECT_EQ(watermark(), at(1'000) + 15ms);
    EXPECT_EQ(harness.wake_at_ns(), ns_behind(175ms));
    EXPECT_EQ(harness.emitted().size(), 2U);
}

/// A record of the time of the clock is in time after the silence; a window ends in it.
TEST(InSilence, EndsWindows) {
    Graph graph{"silence"};
    auto [inlet, stream] = graph.inlet<Event>();
    auto outlet = std::move(stream)
                      .event_time<&Event::time>(InSilence{BoundedDisorder{1ms}, 30ms})
                      .key_by<&Event::key>()
                      .window(TimeWindows::tumbling(50ms), sum, {.name = "window"})
                      .outlet();
    Running running = start(graph, {.workers = 2});
    ASSERT_TRUE(inlet.push({1, at(5), 7}));
    const auto result = outlet.pop();  // though nothing comes
    ASSERT_TRUE(result);
    EXPECT_EQ(result->window.start, at(0));
    EXPECT_EQ(result->value, 7);
    ASSERT_TRUE(inlet.push({1, at(6), 1}));  // late
    ASSERT_TRUE(inlet.push({1, EventTime{24h}, 1}));
    inlet.close();
    EXPECT_EQ(outlet.pop().value().value, 1);
    EXPECT_FALSE(outlet.pop());
    EXPECT_EQ(late_in(running.wait()), 1U);
}

TEST(AtEnd, GivesEveryWindowOfAStreamInAnyOrder) {
    for (const std::uint64_t seed : test::seeds(4)) {
        auto events = random_events(seed, {}, event_count);
        std::stable_sort(events.begin(), events.end(),
                         [](const Event& a, const Event& b) { return a.key < b.key; });
        const auto agree = [&](const auto& windows) {
            Graph graph{"at end"};
            auto rows = std::make_shared<std::vector<Row>>();
            graph.source(replay(events))
                .event_time<&Event::time>(AtEnd{})
                .key_by<&Event::key>()
                .window(windows, sum)
                .sink(
                    [rows](const auto& result) {
                        rows->emplace_back(result.key, result.window.start.ns(),
                                           result.window.end.ns(),
                                           static_cast<double>(result.value));
                    },
                    {.parallelism = 1});
            EXPECT_EQ(late_in(run(graph, run_options(seed))), 0U);
            std::sort(rows->begin(), rows->end());
            ASSERT_EQ(*rows, expected(events, windows, Duration{1'000'000}, 0ns, sum_of).rows);
        };
        agree(sliding(100, 30));
        agree(SessionWindows::with_gap(Duration{20}));
    }
}

TEST(NotAheadOfClock, DropsRecordsFromTheFutureOnly) {
    const EventTime now{std::chrono::system_clock::now().time_since_epoch()};
    std::vector<Event> events;
    for (const EventTime time : {now + 2h, at(0), now - 24h, EventTime::latest(), now + 3h,
                                 now - 1s, EventTime::earliest(), now + 59min}) {
        events.push_back({1, time, static_cast<std::int64_t>(events.size())});
    }
    Graph graph{"future"};
    auto taken = std::make_shared<std::vector<std::int64_t>>();
    graph.source(replay(events))
        .filter(not_ahead_of_clock(field<&Event::time>, 1h))
        .sink([taken](const Event& event) { taken->push_back(event.value); }, {.parallelism = 1});
    run(graph, {});
    EXPECT_EQ(*taken, (std::vector<std::int64_t>{1, 2, 5, 6, 7}));
    EXPECT_THROW((void)not_ahead_of_clock(field<&Event::time>, -1h), Error);
}

}  // namespace
}  // namespace strid
