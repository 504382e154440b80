// SPDX-License-Identifier: Apache-2.0
//
// Time otherwise than in windows: functions with timers, time by the machine's clock. Against the
// obvious sequential computation (window_oracle.hpp).
#include <chrono>
#include <thread>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// Says of each key how often it came until it was silent for 40 ns: a session, by hand. A record
/// behind the silence may come before the timer: watermarks come with batches.
struct CountUntilSilence {
    static constexpr Duration silence{40};

    template <class Emit>
    void operator()(const Event& event, Timers& timers, Emit& emit) {
        key = event.key;
        timers.cancel(last + silence + Duration{1});
        if (count != 0 && event.time > last + silence) {
            say(emit);
            *this = {};
            key = event.key;
        }
        last = std::max(last, event.time);
        first = std::min(first, event.time);
        ++count;
        timers.at(last + silence + Duration{1});
    }
    template <class Emit>
    void on_timer(EventTime, Timers& timers, Emit& emit) {
        say(emit);
        timers.forget_key();
    }
    template <class Emit>
    void say(Emit& emit) const {
        emit(Row{key, first.ns(), last.ns() + silence.count(), static_cast<double>(count)});
    }

    std::uint32_t key = 0;
    EventTime first = EventTime::latest();
    EventTime last = EventTime::earliest();
    std::uint64_t count = 0;
};

TEST(Timers, OfEventTimeMakeSessionsByHand) {
    for (const std::uint64_t seed : test::seeds(12)) {
        const auto events = random_events(seed, {.disorder = 0, .too_late = 0}, event_count);
        Graph graph{"by hand"};
        auto rows = std::make_shared<Collected<Row>>();
        graph.source(replay(events))
            .event_time<&Event::time>(MonotonousTime{})
            .key_by<&Event::key>()
            .process<Row>(CountUntilSilence{})
            .sink([rows](const Row& row) { rows->add(row); });
        run(graph, run_options(seed));
        auto answer = rows->records();
        std::sort(answer.begin(), answer.end());
        ASSERT_EQ(answer, expected(events, SessionWindows::with_gap(Duration{40}), Duration{0},
                                   Duration::zero(), count_of)
                              .rows)
            << "seed " << seed;
    }
}

/// Two timers per record, one of them for what has been, one asked for twice and one taken back.
struct Several {
    void operator()(const Event& event, Timers& timers, Emitter<std::int64_t>&) {
        timers.at(event.time + Duration{5});
        timers.at(event.time + Duration{5});
        timers.at(event.time - Duration{1'000'000});
        timers.at(event.time + Duration{7});
        timers.cancel(event.time + Duration{7});
    }
    void on_timer(EventTime time, Timers& timers, Emitter<std::int64_t>& emit) {
        EXPECT_TRUE(time <= timers.watermark() || timers.watermark() == EventTime::latest());
        emit(time.ns());
    }
};

TEST(Timers, AreOnePerTimeAndFireWhereTimeHasPassedThem) {
    std::vector<Event> events;
    std::vector<std::int64_t> oracle;
    for (std::int64_t i = 0; i < 500; ++i) {
        events.push_back({0, at(10 * i), 0});
        oracle.push_back(10 * i + 5);
        oracle.push_back(10 * i - 1'000'000);
    }
    std::sort(oracle.begin(), oracle.end());
    for (const std::uint64_t seed : test::seeds(8)) {
        Graph graph{"several"};
        auto times = std::make_shared<Collected<std::int64_t>>();
        graph.source(replay(events))
            .event_time<&Event::time>(MonotonousTime{})
            .key_by<&Event::key>()
            .process<std::int64_t>(Several{})
            .sink([times](std::int64_t time) { times->add(time); });
        run(graph, run_options(seed));
        auto answer = times->records();
        std::sort(answer.begin(), answer.end());
        ASSERT_EQ(answer, oracle) << "seed " << seed;
    }
}

/// Two timers for each record, one in event time and one by the clock that is not due before the
/// end, so that all are pending at once; and two that are taken back.
struct Orders {
    void operator()(const Event& event, Timers& timers, Emitter<std::int64_t>&) {
        const ProcessingTime never = ProcessingTime::latest() - Duration{event.value};
        timers.at(event.time + 1h);
        timers.at(event.time + 2h);
        timers.at(never);
        timers.at(never - 1h);
        timers.cancel(event.time + 2h);
        timers.cancel(never - 1h);
    }
    void on_timer(EventTime time, Timers&, Emitter<std::int64_t>& emit) { emit(time.ns()); }
    void on_timer(ProcessingTime, Timers&, Emitter<std::int64_t>&) { FAIL() << "not due"; }
};

TEST(Timers, OfOneKeyAreManyAndCounted) {
    constexpr std::int64_t records = 80'000;
    std::vector<Event> events;
    std::vector<std::int64_t> oracle;
    for (std::int64_t i = 0; i != records; ++i) {
        events.push_back({0, at(i), i});
        oracle.push_back((at(i) + 1h).ns());
    }
    Graph graph{"orders"};
    auto times = std::make_shared<Collected<std::int64_t>>();
    graph.source(replay(events))
        .event_time<&Event::time>(MonotonousTime{})
        .key_by<&Event::key>()
        .process<std::int64_t>(Orders{}, {.name = "orders"})
        .sink([times](std::int64_t time) { times->add(time); });
    const std::int64_t start_ns = now_ns();
    const RunReport report = run(graph, {.workers = 1});
    // Where each timer is compared with all others of its key it takes minutes.
    EXPECT_LT(now_ns() - start_ns, std::int64_t{5'000'000'000});
    EXPECT_EQ(times->records(), oracle);
    // A timer takes 40 bytes, and the vectors may have room for twice as many and more.
    EXPECT_GE(report.find("orders")->state_bytes, std::uint64_t{40 * records});
    EXPECT_LE(report.find("orders")->state_bytes, std::uint64_t{4 * 40 * records});
}

/// Says every 100 ns, from the first record on, that so much time has passed.
struct Ticks {
    void operator()(const Event& event, Timers& timers, Emitter<std::int64_t>&) {
        if (!std::exchange(began, true)) timers.at(event.time + Duration{100});
    }
    void on_timer(EventTime time, Timers& timers, Emitter<std::int64_t>& emit) {
        emit(time.ns());
        timers.at(time + Duration{100});
    }
    bool began = false;
};

TEST(Timers, ThatAskForTheNextTimeEndWithTheStream) {
    std::vector<Event> events;
    for (std::int64_t i = 0; i <= 100; ++i) events.push_back({0, at(25 * i), 0});
    // Those that time has reached, and the one that was pending when the stream ended.
    std::vector<std::int64_t> oracle;
    for (std::int64_t time = 100; time <= 2'600; time += 100) oracle.push_back(time);
    for (const std::uint64_t seed : test::seeds(8)) {
        Graph graph{"ticks"};
        auto times = std::make_shared<Collected<std::int64_t>>();
        graph.source(replay(events))
            .event_time<&Event::time>(MonotonousTime{})
            .key_by<&Event::key>()
            .process<std::int64_t>(Ticks{})
            .sink([times](std::int64_t time) { times->add(time); });
        run(graph, run_options(seed));
        ASSERT_EQ(times->records(), oracle) << "seed " << seed;
    }
}

/// Answers 20 ms after a record, though nothing more comes.
struct Echo {
    void operator()(const Event& event, Timers& timers, Emitter<std::int64_t>&) {
        value = event.value;
        due = timers.now() + 20ms;
        timers.at(due);
    }
    void on_timer(ProcessingTime time, Timers& timers, Emitter<std::int64_t>& emit) {
        EXPECT_EQ(time, due);
        EXPECT_GE(timers.now(), due);
        emit(value);
    }
    std::int64_t value = 0;
    ProcessingTime due;
};

TEST(Timers, OfTheClockFireThoughNothingComes) {
    Graph graph{"echo"};
    auto [inlet, stream] = graph.inlet<Event>();
    auto outlet = std::move(stream).key_by<&Event::key>().process<std::int64_t>(Echo{}).outlet();
    Running running = start(graph, {.workers = 2});
    for (std::uint32_t key = 0; key < 5; ++key) {
        ASSERT_TRUE(inlet.push({key, at(0), static_cast<std::int64_t>(key)}));
    }
    std::vector<std::int64_t> answers;
    for (int i = 0; i < 5; ++i) answers.push_back(outlet.pop().value());
    std::sort(answers.begin(), answers.end());
    EXPECT_EQ(answers, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
    inlet.close();
    EXPECT_FALSE(outlet.pop());
    running.wait();
}

TEST(IngressTime, FiresWindowsThoughNothingMoreComes) {
    Graph graph{"clock"};
    auto [inlet, stream] = graph.inlet<Event>();
    auto outlet = std::move(stream)
                      .ingress_time({.every = 2ms})
                      .key_by([](const Stamped<Event>& one) { return one.record.key; })
                      .window(TimeWindows::tumbling(5ms), window::count())
                      .outlet();
    Running running = start(graph, {.workers = 2});
    std::uint64_t seen = 0;
    for (int round = 0; round < 3; ++round) {
        const std::int64_t begin = now_ns();
        for (std::uint32_t key = 0; key < 4; ++key) ASSERT_TRUE(inlet.push({key, at(0), 1}));
        while (seen != 4U * static_cast<unsigned>(round + 1)) {
            const auto result = outlet.pop().value();
            seen += result.value;
            EXPECT_GE(result.window.end.ns(), begin);
            EXPECT_LE(result.window.end.ns(), now_ns());
        }
    }
    inlet.close();
    EXPECT_FALSE(outlet.pop());
    running.wait();
}

}  // namespace
}  // namespace strid
