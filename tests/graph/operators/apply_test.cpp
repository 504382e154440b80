// SPDX-License-Identifier: Apache-2.0
//
// Operators that a user writes: what `apply` takes, the events that they get, and what it does
// about what they are.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../test_sources.hpp"
#include "../windows.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using test::Event;
using test::Numbers;

// ---- an operator as a user writes it -----------------------------------------------------------

/// A value of a sensor that has not changed for a while is given again, so that what is behind
/// sees a value of every sensor in every `within` of event time.
struct Reading {
    std::uint32_t key;
    EventTime time;
    std::int64_t value;
    bool again;
    friend auto operator<=>(const Reading&, const Reading&) = default;
};

template <class KeyOf>
class Heartbeat : public OperatorTypes<message::Hashed<Event>, Reading> {
  public:
    static constexpr OperatorTraits traits{.kind = "heartbeat",
                                           .emits = Emits::any_number,
                                           .hears = events<Watermark>,
                                           .needs_watermarks = true};

    Heartbeat(KeyOf key_of, Duration within) : key_of_(std::move(key_of)), within_(within) {}

    void process(message::Hashed<Event>& arrived, auto& emit) {
        const Event& event = arrived.record;
        auto& last =
            sensors_.find_or_make(std::invoke(key_of_, event), arrived.hash, [&] { return event; });
        last.state = event;
        emit(Reading{event.key, event.time, event.value, false});
    }
    void on(Watermark watermark, auto& emit) {
        for (auto& [hash, key, last] : sensors_) {
            for (; last.time + within_ <= watermark.time; last.time = last.time + within_) {
                emit(Reading{key, last.time + within_, last.value, true});
            }
        }
    }
    auto state() { return std::tie(sensors_); }

  private:
    KeyOf key_of_;
    Duration within_;
    KeyedState<std::uint32_t, Event> sensors_;
};

auto heartbeat(Duration within) {
    return [within](const auto& arriving) { return Heartbeat{arriving.key_of, within}; };
}

// ------------------------------------------------------------------------------------------------

TEST(Apply, TakesAMakerOfAnOperatorByKey) {
    // Every sensor says something once, at its own time; then one record ends the time.
    std::vector<Event> events;
    for (std::uint32_t sensor = 0; sensor != 20; ++sensor) {
        events.push_back({sensor, test::at(sensor), sensor * 10});
    }
    events.push_back({20, test::at(1'000), 0});
    std::vector<Reading> oracle;
    for (const Event& event : events) {
        oracle.push_back({event.key, event.time, event.value, false});
        for (std::int64_t time = event.time.ns() + 300; time <= 1'000; time += 300) {
            oracle.push_back({event.key, test::at(time), event.value, true});
        }
    }
    std::sort(oracle.begin(), oracle.end());
    for (const std::uint64_t seed : test::seeds(12)) {
        Graph graph{"heartbeat"};
        auto rows = std::make_shared<Collected<Reading>>();
        graph.source(replay(events))
            .event_time<&Event::time>(MonotonousTime{})
            .key_by<&Event::key>()
            .apply(heartbeat(300ns))
            .sink(collect_into(rows));
        const RunReport report = run(graph, test::run_options(seed));
        auto records = rows->records();
        std::sort(records.begin(), records.end());
        ASSERT_EQ(records, oracle) << "seed " << seed;
        const OperatorReport& heartbeats = *report.find("heartbeat-3");
        EXPECT_EQ(heartbeats.state_keys, 21U);
        EXPECT_GE(heartbeats.state_bytes, 21U * sizeof(Event));
    }
}

TEST(Apply, RefusesAnOperatorThatNeedsTimeWhereThereIsNone) {
    Graph graph{"no time"};
    graph.source(replay(std::vector<Event>{}))
        .key_by<&Event::key>()
        .apply(heartbeat(1ns))
        .sink([](const Reading&) {});
    EXPECT_THROW((void)run(graph), GraphError);
}

// ---- the events of an operator ------------------------------------------------------------------

struct Heard {
    std::atomic<int> opened{0};
    std::atomic<int> batches{0};
    std::atomic<int> flushed{0};
    std::atomic<int> ended{0};
    std::atomic<int> closed{0};
    std::atomic<bool> in_order{true};
};

/// Passes every other number, and the sum of all at the end, where it waits for room.
class EveryOther : public OperatorTypes<std::uint64_t, std::uint64_t> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "every_other",
        .emits = Emits::any_number,
        .hears = events<Opened, BatchBegins, Flush, Ended, Closed>,
        .has = Has::facts,
        .one_replica = true};

    explicit EveryOther(std::shared_ptr<Heard> heard) : heard_(std::move(heard)) {}

    [[nodiscard]] OperatorFacts facts() const { return {.notes = {"it has to see all of them"}}; }
    void on(const Opened& opened) {
        ++heard_->opened;
        if (opened.context.parallelism != 1 || opened.context.name != "odd")
            heard_->in_order = false;
    }
    void on(const BatchBegins&) { ++heard_->batches; }
    void process(std::uint64_t& number, auto& emit) {
        if (heard_->opened != 1 || heard_->ended != 0) heard_->in_order = false;
        sum_ += number;
        if (number % 2 == 1) emit(number);
    }
    void on(Flush) { ++heard_->flushed; }
    bool on(Ended, auto& emit) {
        heard_->ended = 1;
        for (; emitted_ != 100; ++emitted_) {
            if (!emit.room()) return false;
            emit(sum_);
        }
        return true;
    }
    void on(Closed) {
        if (heard_->ended != 1) heard_->in_order = false;
        ++heard_->closed;
    }
    auto state() { return std::tie(sum_, emitted_); }

  private:
    std::shared_ptr<Heard> heard_;
    std::uint64_t sum_ = 0;
    int emitted_ = 0;
};

TEST(Apply, NotifiesAnOperatorOfEveryEvent) {
    const std::uint64_t count = test::perturbed ? 500 : 20'000;
    for (const auto& way : test::all_ways()) {
        SCOPED_TRACE(way.name);
        const auto heard = std::make_shared<Heard>();
        auto rows = std::make_shared<Collected<std::uint64_t>>();
        Graph graph{"odd numbers"};
        graph.source(Numbers{count})
            .separate()
            .apply(EveryOther{heard}, {.name = "odd", .parallelism = 1})
            .separate()
            .sink(collect_into(rows), {.parallelism = 1});
        RunOptions options = way.options;
        options.block_bytes = 512;
        const RunReport report = run(graph, options);
        ASSERT_EQ(heard->opened, 1);
        ASSERT_EQ(heard->ended, 1);
        ASSERT_EQ(heard->closed, 1);
        ASSERT_GT(heard->batches, 0);
        ASSERT_GT(heard->flushed, 0);
        ASSERT_TRUE(heard->in_order);
        const auto records = rows->records();
        ASSERT_EQ(records.size(), count / 2 + 100);
        for (std::uint64_t i = 0; i != count / 2; ++i) ASSERT_EQ(records[i], 2 * i + 1);
        for (std::uint64_t i = 0; i != 100; ++i) {
            ASSERT_EQ(records[count / 2 + i], count * (count - 1) / 2);
        }
        ASSERT_EQ(report.find("odd")->records_in, count);
        ASSERT_EQ(report.find("odd")->records_out, count / 2 + 100);
    }
}

TEST(Apply, ReadsTraitsAndFacts) {
    const auto graph_with = [](std::size_t replicas) {
        Graph graph{"odd numbers"};
        graph.source(Numbers{10})
            .rebalance()
            .apply(EveryOther{std::make_shared<Heard>()}, {.name = "odd", .parallelism = replicas})
            .sink([](const std::uint64_t&) {});
        return graph;
    };
    EXPECT_THROW((void)run(graph_with(2)), GraphError);
    EXPECT_THAT(graph_with(1).explain(), testing::HasSubstr("it has to see all of them"));
    // It does not say that it goes on where its function throws.
    Graph graph{"skips"};
    EXPECT_THROW(
        (void)graph.source(Numbers{10})
            .apply(EveryOther{std::make_shared<Heard>()}, {.on_exception = OnException::skip}),
        GraphError);
}

/// A sink is an operator that emits nothing.
class Sum : public OperatorTypes<std::uint64_t, void> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "sum", .emits = Emits::nothing, .hears = events<>, .stateless = true};

    explicit Sum(std::shared_ptr<std::atomic<std::uint64_t>> into) : into_(std::move(into)) {}
    void process(std::uint64_t& number, auto&) { *into_ += number; }

  private:
    std::shared_ptr<std::atomic<std::uint64_t>> into_;
};

TEST(Apply, EndsAStreamWithAnOperatorThatEmitsNothing) {
    const auto sum = std::make_shared<std::atomic<std::uint64_t>>(0);
    Graph graph{"sum"};
    graph.source(Numbers{100}).map([](const std::uint64_t& n) { return n * 2; }).apply(Sum{sum});
    const RunReport report = run(graph);
    EXPECT_EQ(*sum, 9'900U);
    EXPECT_EQ(report.records_out(), 100U);
}

/// A part of a graph that stands in two places.
TEST(Through, IsTheFunctionOfTheStream) {
    const auto odd_squares = [](auto numbers) {
        return std::move(numbers)
            .filter([](const std::uint64_t& n) { return n % 2 == 1; })
            .map([](const std::uint64_t& n) { return n * n; });
    };
    Graph graph{"parts"};
    std::uint64_t small = 0;
    std::uint64_t large = 0;
    graph.source(Numbers{10}).through(odd_squares).sink([&small](const std::uint64_t& n) {
        small += n;
    });
    Stream<std::uint64_t> stored = graph.source(Numbers{100});
    std::move(stored).through(odd_squares).sink([&large](const std::uint64_t& n) { large += n; });
    run(graph);
    // The sum of the first k odd squares is k (4 k k - 1) / 3.
    EXPECT_EQ(small, 5U * (4 * 25 - 1) / 3);
    EXPECT_EQ(large, 50U * (4 * 2'500 - 1) / 3);
}

}  // namespace
}  // namespace strid
