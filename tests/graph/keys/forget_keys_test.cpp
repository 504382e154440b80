// SPDX-License-Identifier: Apache-2.0
//
// How long operators behind `key_by` keep what they hold for a key, and what the report says of it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using test::Event;

/// Which record of its key it is.
struct Number {
    std::int64_t count = 0;
    Event operator()(const Event& event) { return {event.key, event.time, ++count}; }
};

std::vector<Event> events_of(std::uint64_t seed) {
    return test::random_events(seed, {.keys = 60}, test::event_count);
}

RunOptions one_replica(std::uint64_t seed) {
    RunOptions options = test::run_options(seed);
    options.parallelism = 1;
    return options;
}

/// The numbers that keys have where the one used longest ago makes way for a new one.
template <class Forgotten>
std::vector<Event> numbered(const std::vector<Event>& events, std::size_t keys_max,
                            const Forgotten& forgotten) {
    std::list<std::uint32_t> used;  // the one used longest ago first
    std::map<std::uint32_t, std::int64_t> counts;
    std::vector<Event> rows;
    for (const Event& event : events) {
        if (!counts.contains(event.key) && counts.size() == keys_max) {
            forgotten(used.front(), counts[used.front()]);
            counts.erase(used.front());
            used.pop_front();
        }
        used.remove(event.key);
        used.push_back(event.key);
        rows.push_back({event.key, event.time, ++counts[event.key]});
    }
    for (const std::uint32_t key : used) forgotten(key, counts[key]);
    return rows;
}
constexpr auto ignored = [](std::uint32_t, std::int64_t) {};

TEST(ForgetKeys, TheOneUsedLongestAgoMakesWay) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = events_of(seed);
        Graph graph{"bounded"};
        auto rows = std::make_shared<Collected<Event>>();
        graph.source(replay(events))
            .key_by<&Event::key>(keep_at_most(20))
            .map(Number{}, {.name = "number", .parallelism = 1})
            .sink(collect_into(rows), {.parallelism = 1});
        const RunReport report = run(graph, one_replica(seed));
        ASSERT_EQ(rows->records(), numbered(events, 20, ignored)) << "seed " << seed;
        EXPECT_EQ(report.find("number")->state_keys, 20U);
    }
}

TEST(ForgetKeys, AnAccumulationGivesWhatItForgets) {
    using Last = std::pair<std::uint32_t, std::int64_t>;
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = events_of(seed);
        std::vector<Last> oracle;
        (void)numbered(events, 20, [&oracle](std::uint32_t key, std::int64_t count) {
            oracle.emplace_back(key, count);
        });
        Graph graph{"bounded"};
        auto rows = std::make_shared<Collected<Last>>();
        graph.source(replay(events))
            .key_by<&Event::key>(keep_at_most(20))
            .accumulate(std::int64_t{0}, [](std::int64_t& count, const Event&) { ++count; },
                        Emit::at_end, {.parallelism = 1})
            .map([](const Keyed<std::uint32_t, std::int64_t>& last) {
                return Last{last.key, last.value};
            })
            .sink(collect_into(rows), {.parallelism = 1});
        run(graph, one_replica(seed));
        ASSERT_EQ(rows->records(), oracle) << "seed " << seed;
    }
}

/// A state of a type that could be cleared begins with what it began with at first.
TEST(ForgetKeys, AKeyThatComesAgainBeginsAnew) {
    Graph graph{"anew"};
    auto rows = std::make_shared<Collected<std::string>>();
    graph.source(replay(std::vector<int>{1, 2, 1, 1, 2}))
        .key_by([](const int& key) { return key; }, keep_at_most(1))
        .accumulate(std::string("from"), [](std::string& text, const int&) { text += "+"; },
                    Emit::every_update, {.parallelism = 1})
        .map([](const Keyed<int, std::string>& now) { return std::to_string(now.key) + now.value; })
        .sink(collect_into(rows), {.parallelism = 1});
    run(graph);
    EXPECT_EQ(rows->records(),
              (std::vector<std::string>{"1from+", "2from+", "1from+", "1from++", "2from+"}));
}

TEST(ForgetKeys, ATextKeyThatIsForgottenIsGivenWhole) {
    std::vector<std::string> texts;
    for (int i = 0; i != 3'000; ++i) texts.push_back("a text of some length " + std::to_string(i));
    Graph graph{"texts"};
    auto rows = std::make_shared<Collected<std::string>>();
    graph.source(replay(texts))
        .map([](const std::string& text) { return text; })
        .key_by([](const std::string& text) { return std::string_view(text); }, keep_at_most(3))
        .accumulate(0, [](int& count, const std::string&) { ++count; }, Emit::at_end,
                    {.parallelism = 1})
        .map([](const Keyed<std::string_view, int>& last) {
            return std::string(last.key) + " " + std::to_string(last.value);
        })
        .sink(collect_into(rows), {.parallelism = 1});
    run(graph);
    std::vector<std::string> oracle;
    for (const std::string& text : texts) oracle.push_back(text + " 1");
    EXPECT_EQ(rows->records(), oracle);
}

TEST(ForgetKeys, ByEventTimeWhenTheWatermarkHasGoneOn) {
    Graph graph{"by event time"};
    auto [inlet, stream] = graph.inlet<Event>();
    auto outlet = std::move(stream)
                      .event_time<&Event::time>(MonotonousTime{})
                      .key_by<&Event::key>(forget_after(1h))
                      .map(Number{}, {.name = "number", .parallelism = 1})
                      .outlet();
    Running running = start(graph);
    const auto count_of = [&, &into = inlet](std::uint32_t key, std::chrono::nanoseconds time) {
        EXPECT_TRUE(into.push(Event{key, test::at(time.count()), 0}));
        return outlet.pop()->value;
    };
    EXPECT_EQ(count_of(1, 0min), 1);
    EXPECT_EQ(count_of(1, 30min), 2);
    EXPECT_EQ(count_of(2, 80min), 1);
    EXPECT_EQ(count_of(1, 80min), 3) << "50 minutes later";
    EXPECT_EQ(count_of(2, 150min), 2) << "nothing before it has moved time on";
    EXPECT_EQ(count_of(1, 150min), 1) << "70 minutes later";
    inlet.close();
    EXPECT_EQ(outlet.pop(), std::nullopt);
    EXPECT_EQ(running.wait().find("number")->state_keys, 2U);
}

/// A minute would be for ever.
template <class Condition>
void wait_until(const Condition& condition) {
    for (int waits = 0; !condition(); ++waits) {
        ASSERT_LT(waits, 60'000);
        std::this_thread::sleep_for(1ms);
    }
}

TEST(ForgetKeys, ByTheClockThoughNothingComes) {
    Graph graph{"by the clock"};
    auto [inlet, stream] = graph.inlet<Event>();
    auto outlet = std::move(stream)
                      .key_by<&Event::key>(forget_after_by_clock(1ms).at_most(10))
                      .map(Number{}, {.name = "number", .parallelism = 1})
                      .outlet();
    Running running = start(graph);
    for (std::uint64_t i = 0; i != 3; ++i) {
        EXPECT_TRUE(inlet.push(Event{7, test::at(0), 0}));
        EXPECT_EQ(outlet.pop()->value, 1) << "it begins anew";
        // Until the run that had the record is over, and then until the key is forgotten.
        wait_until([&] { return running.report().find("number")->records_out == i + 1U; });
        wait_until([&] { return running.report().find("number")->state_keys == 0; });
    }
    inlet.close();
    (void)running.wait();
}

TEST(ForgetKeys, RefusesBoundsThatAreNone) {
    EXPECT_THROW((void)forget_after(0ns), GraphError);
    EXPECT_THROW((void)forget_after_by_clock(-1ns), GraphError);
    EXPECT_THROW((void)keep_at_most(0), GraphError);
}

TEST(ForgetKeys, ExplainShowsHowLongAStateIsKept) {
    const auto explained = [](auto life) {
        Graph graph{"kept"};
        graph.source(replay(std::vector<Event>{}))
            .event_time<&Event::time>(MonotonousTime{})
            .key_by<&Event::key>(life)
            .map(Number{})
            .sink([](const Event&) {});
        return graph.explain();
    };
    EXPECT_THAT(explained(KeepKeys{}),
                testing::HasSubstr("a state for each key, for the whole run"));
    EXPECT_THAT(explained(forget_after(1h)),
                testing::HasSubstr("a state for each key, until it is forgotten"));
    // Without state there is nothing to keep.
    Graph graph{"stateless"};
    graph.source(replay(std::vector<Event>{}))
        .key_by<&Event::key>()
        .map([](const Event& event) { return event.value; })
        .sink([](const std::int64_t&) {});
    EXPECT_THAT(graph.explain(), testing::Not(testing::HasSubstr("a state for each key")));
}

TEST(State, IsInTheReport) {
    std::vector<Event> events;
    for (std::uint32_t i = 0; i != 3'000; ++i) events.push_back({i % 1'000, test::at(i), 1});
    Graph graph{"report"};
    graph.source(replay(events))
        .event_time<&Event::time>(MonotonousTime{})
        .key_by<&Event::key>()
        .reduce(
            [](const Event& a, const Event& b) {
                return Event{a.key, b.time, a.value + b.value};
            },
            {.name = "reduce"})
        .key_by<&Event::key>()
        .window(window::CountWindows::tumbling(10), test::sum, {.name = "window"})
        .sink([](const auto&) {});
    const RunReport report = run(graph);
    for (const char* const name : {"reduce", "window"}) {
        EXPECT_EQ(report.find(name)->state_keys, 1'000U) << name;
        EXPECT_GE(report.find(name)->state_bytes, 1'000U * 32) << name;
    }
    EXPECT_THAT(report.to_json(), testing::HasSubstr(R"("state_keys":1000)"));
}

}  // namespace
}  // namespace strid
