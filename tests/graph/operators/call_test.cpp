// SPDX-License-Identifier: Apache-2.0
//
// Slow functions on threads of their own (operator/call.hpp): the same results as one call after
// the other, in order if they are to be, no more calls at a time than said, watermarks behind the
// results before them, and failures by the policy of the operator.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/strid.hpp>

#include "calls.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using namespace test;
using testing::HasSubstr;

TEST(Call, AnswersAreThoseOfOneCallAfterTheOther) {
    constexpr std::uint64_t count = 300;
    for (const Way& way : all_ways()) {
        SCOPED_TRACE(way.name);
        RunReport report;
        const auto ordered = called(count, slow(seldom), {.in_flight = 7}, way.options, &report);
        EXPECT_EQ(ordered, answers(count));
        EXPECT_EQ(of_calls(report).records_in, count);
        EXPECT_EQ(of_calls(report).records_out, count);
        EXPECT_EQ(of_calls(report).counters.at("calls"), count);
        auto any = called(count, slow(seldom), {.in_flight = 7, .ordered = false}, way.options);
        std::ranges::sort(any);
        EXPECT_EQ(any, answers(count));
    }
}

TEST(Call, SlowCallsTakeAsLongAsTheyTakeTogether) {
    for (const bool ordered : {true, false}) {
        const auto gauge = std::make_shared<Gauge>();
        const auto began = std::chrono::steady_clock::now();
        auto out = called(640, slow([](std::uint64_t) { return 10'000; }, gauge),
                          {.in_flight = 64, .ordered = ordered}, {.workers = 2});
        const auto took = std::chrono::steady_clock::now() - began;
        std::ranges::sort(out);
        EXPECT_EQ(out, answers(640));
        EXPECT_LE(gauge->most, 64U);
        EXPECT_GE(gauge->most, 32U);
        EXPECT_GE(took, 100ms);
        EXPECT_LT(took, 1500ms) << "one after the other they take 6.4 s";
    }
}

TEST(Call, NoMoreAreInFlightThanItSays) {
    for (const std::size_t in_flight : {1U, 3U, 16U}) {
        const auto gauge = std::make_shared<Gauge>();
        const auto out = called(300, slow([](std::uint64_t n) { return n % 7 * 50; }, gauge),
                                {.in_flight = in_flight}, {.workers = 2});
        EXPECT_EQ(out, answers(300));
        EXPECT_LE(gauge->most, in_flight);
    }
}

TEST(Call, WithoutOrderAResultOvertakes) {
    std::atomic<bool> release{false};
    const auto first_waits = [&release](const std::uint64_t& n) {
        if (n == 0) release.wait(false);
        if (n == 9) {
            release = true;
            release.notify_all();
        }
        return answer_to(n);
    };
    const auto out = called(10, first_waits, {.in_flight = 2, .ordered = false}, {.workers = 2});
    ASSERT_EQ(out.size(), 10U);
    EXPECT_EQ(Numbers64(out.begin(), out.begin() + 8), answers(9, 1));
}

TEST(Call, AResultNeedsNoNextRecord) {
    for (const bool ordered : {true, false}) {
        Graph graph{"live"};
        auto [inlet, stream] = graph.inlet<std::uint64_t>(4);
        auto outlet = std::move(stream)
                          .call(slow([](std::uint64_t) { return 1000; }), {.ordered = ordered})
                          .outlet(4);
        Running running = start(graph, {.workers = 1});
        for (std::uint64_t n = 0; n != 20; ++n) {
            ASSERT_TRUE(inlet.push(n));
            ASSERT_EQ(outlet.pop(), answer_to(n));
        }
        inlet.close();
        EXPECT_EQ(outlet.pop(), std::nullopt);
        running.wait();
    }
}

TEST(Call, WindowsBehindItRefuseTheSameRecords) {
    const auto windows = sliding(100, 25);
    std::size_t late = 0;
    for (const std::uint64_t seed : test::seeds(12)) {
        const std::size_t count = event_count / 3;
        const auto events = random_events(seed, {.too_late = 900}, count);
        Graph graph{"windows"};
        auto rows = std::make_shared<Collected<Row>>();
        graph.source(replay(events))
            .event_time<&Event::time>(BoundedDisorder{Duration{50}})
            .call(
                [](const Event& event) {
                    if (event.time.ns() % 29 == 0) std::this_thread::sleep_for(100us);
                    return event;
                },
                {.in_flight = 1 + seed % 9, .ordered = seed % 2 == 0})
            .key_by<&Event::key>()
            .window(windows, sum)
            .sink(ToRows{rows});
        run(graph, run_options(seed));
        auto answer = rows->records();
        std::ranges::sort(answer);
        const Answer oracle = expected(events, windows, Duration{50}, Duration::zero(), sum_of);
        late += oracle.late.size();
        ASSERT_EQ(answer, oracle.rows) << "seed " << seed;
    }
    EXPECT_GT(late, 0U);
}

// ---- the end of the run ------------------------------------------------------------------------

TEST(Call, AStopDrainsAndACancellationAsksCallsToStop) {
    std::atomic<std::uint64_t> begun{0};
    std::atomic<bool> may_answer{false};
    Numbers64 out;
    {
        Graph graph{"stopped"};
        graph.source(Numbers{.count = UINT64_MAX})
            .call(slow([&](std::uint64_t) {
                      ++begun;
                      while (!may_answer) std::this_thread::sleep_for(100us);
                      return 0;
                  }),
                  {.in_flight = 4})
            .sink([&out](std::uint64_t n) { out.push_back(n); });
        Running running = start(graph, {.workers = 2});
        while (begun < 4) std::this_thread::sleep_for(1ms);
        running.stop();
        EXPECT_FALSE(running.wait_for(20ms)) << "four calls have not answered";
        may_answer = true;
        while (begun < 8) std::this_thread::sleep_for(1ms);  // those of a batch are drained
        running.cancel();
        EXPECT_TRUE(running.wait_for(20s));
    }
    EXPECT_EQ(out, answers(out.size()));

    const auto waits = [&begun](const std::uint64_t& n, const std::stop_token& stop) {
        ++begun;
        while (!stop.stop_requested()) std::this_thread::sleep_for(100us);
        return n;
    };
    for (const bool fails : {false, true}) {
        begun = 0;
        Graph graph{"cancelled"};
        graph.source(Numbers{.count = UINT64_MAX}).call(waits, {.in_flight = 4}).sink([](auto) {});
        auto [inlet, numbers] = graph.inlet<int>(1);
        std::move(numbers).sink([](int) { throw std::runtime_error("elsewhere"); });
        Running running = start(graph, {.workers = 2});
        while (begun < 4) std::this_thread::sleep_for(1ms);
        if (fails) {
            EXPECT_TRUE(inlet.push(1));
            EXPECT_THROW(running.wait(), OperatorError);
        } else {
            running.cancel();
            running.wait();
        }
    }
}

TEST(Call, AStoppedRunGivesTheResultsOfWhatItHasRead) {
    std::atomic<std::uint64_t> begun{0};
    Graph graph{"stopped"};
    auto [inlet, stream] = graph.inlet<std::uint64_t>(64);
    Numbers64 out;
    std::move(stream)
        .call(slow([&begun](std::uint64_t) { return ++begun, 2000; }), {.in_flight = 8})
        .sink([&out](std::uint64_t n) { out.push_back(n); });
    for (std::uint64_t n = 0; n != 50; ++n) ASSERT_TRUE(inlet.push(n));
    Running running = start(graph, {.workers = 2});
    while (begun < 8) std::this_thread::sleep_for(1ms);
    running.stop();
    running.wait();
    EXPECT_EQ(out, answers(50));
}

// ---- the state ---------------------------------------------------------------------------------

struct Results {
    Numbers64* out;
    void operator()(std::uint64_t n) const { out->push_back(n); }
    [[nodiscard]] static bool room() { return true; }
    static void assert_progress(const Progress&) {}
    static void failed() { throw; }
};
struct NoTask final : runtime::Task {
    NoTask() : Task("none") {}
    runtime::StepResult step(std::int64_t&) override { return runtime::StepResult::finished; }
};

TEST(Call, CallsInFlightAreMadeAgainWhereTheirStateGoes) {
    std::atomic<std::uint64_t> begun{0};
    std::atomic<bool> open{false};
    const auto f = [&](const std::uint64_t& n) {
        ++begun;
        open.wait(false);
        return answer_to(n);
    };
    using One = operators::Call<std::uint64_t, decltype(f), NoTime>;
    Numbers64 out;
    const Results emit{&out};
    RunScope scope;
    NoTask task;
    const Opened opened{{.name = "ask", .run = &scope}, task};
    One next{f, {}, {.in_flight = 4}};
    {
        One before{f, {}, {.in_flight = 4}};
        before.on(opened);
        for (std::uint64_t n = 0; n != 4; ++n) {
            EXPECT_FALSE(before.held_back());
            before.process(n, emit);
        }
        EXPECT_TRUE(before.held_back());
        (void)before.on(Watermark{EventTime::of_ns(7)}, emit);
        EXPECT_EQ(before.passed().watermark, EventTime::earliest());
        next.on(opened);
        std::get<0>(next.state()) = std::move(std::get<0>(before.state()));
        next.on(Restored{});
        while (begun != 8) std::this_thread::sleep_for(1ms);
        open = true;
        open.notify_all();
    }
    while (!next.on(Ended{}, emit)) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(out, answers(4));
    EXPECT_EQ(next.passed().watermark, EventTime::of_ns(7));
    next.on(Closed{});
}

// ---- building ----------------------------------------------------------------------------------

TEST(Call, OptionsThatCannotBeAreRefused) {
    const auto refused = [](const CallOptions& calls) {
        try {
            called(1, slow(seldom), calls, {});
        } catch (const GraphError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(refused({.in_flight = 0}), HasSubstr(".in_flight is 0, and must be 1 to 4096"));
    EXPECT_THAT(refused({.in_flight = calls_max + 1}), HasSubstr(".in_flight is 4097"));
    EXPECT_THAT(refused({.timeout = -1ns}), HasSubstr(".timeout is negative"));
    EXPECT_THAT(refused({.backoff = -1ns}), HasSubstr(".backoff is negative"));
    EXPECT_THAT(refused({.backoff_max = -1ns}), HasSubstr(".backoff_max is negative"));
    EXPECT_EQ(refused({.in_flight = calls_max}), "");
}

TEST(Call, IsExplained) {
    Graph graph{"explained"};
    graph.source(from_vector(numbers(1)))
        .call(slow(seldom), {.in_flight = 9}, {.name = "ask"})
        .sink([](std::uint64_t) {});
    const std::string text = graph.explain();
    EXPECT_THAT(text, HasSubstr("ask"));
    EXPECT_THAT(text, HasSubstr("up to 9 calls at a time, on threads of its own"));
}

// ---- stress ------------------------------------------------------------------------------------

TEST(Call, RandomCallsAnswerLikeCallsInTurn) {
    for (const std::uint64_t seed : test::seeds(test::perturbed ? 6 : 24)) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random{seed};
        const std::uint64_t count = 50 + random() % 500;
        const std::size_t retries = random() % 3;
        const CallOptions calls{.in_flight = 1 + random() % 20,
                                .ordered = random() % 2 == 0,
                                .timeout = random() % 2 == 0 ? 0ns : 30s,
                                .retries = retries,
                                .backoff = std::chrono::microseconds{random() % 200}};
        const std::uint64_t salt = random();
        const auto mixed = [salt](std::uint64_t n) {
            return ((n + salt) * 0x9e3779b97f4a7c15U) >> 40U;
        };
        const Throws attempts;  // counts the calls of each number
        const auto f = [=](const std::uint64_t& n) {
            const std::uint64_t chance = mixed(n);
            if (chance % 16 == 0) std::this_thread::sleep_for(chance % 500 * 1us);
            if (++attempts.calls->at(n) <= chance / 16 % 4) throw std::runtime_error("bad");
            return answer_to(n);
        };
        Numbers64 right;
        for (std::uint64_t n = 0; n != count; ++n) {
            if (mixed(n) / 16 % 4 <= retries) right.push_back(answer_to(n));
        }
        RunOptions options = run_options(seed);
        options.parallelism = 0;
        RunReport report;
        auto out = called(count, f, calls, options, &report, {.on_exception = OnException::skip});
        if (!calls.ordered) std::ranges::sort(out);
        ASSERT_EQ(out, right);
        ASSERT_EQ(of_calls(report).records_skipped, count - right.size());
    }
}

}  // namespace
}  // namespace strid
