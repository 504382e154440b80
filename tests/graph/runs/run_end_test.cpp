// SPDX-License-Identifier: Apache-2.0
//
// The report that a run is over: RunOptions::on_end, once, whatever ended it, and
// Running::wait_for.
#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "../test_sources.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;

TEST(RunEnds, AreReportedOnceBeforeFinished) {
    Graph graph{"short"};
    graph.source(test::Numbers{1000}).sink([](std::uint64_t) {});
    std::atomic<bool> may_return{false};
    std::atomic<int> calls{0};
    Running running = start(graph, {.on_end = [&](const RunEnd& end) {
                                ++calls;
                                EXPECT_EQ(end.outcome, Outcome::finished);
                                EXPECT_EQ(end.report.records_out(), 1000U);
                                while (!may_return) std::this_thread::yield();
                            }});
    EXPECT_FALSE(running.wait_for(20ms));
    EXPECT_FALSE(running.finished());
    may_return = true;
    EXPECT_TRUE(running.wait_for(std::chrono::nanoseconds::max()));
    running.wait();
    running.cancel();  // comes too late, and reports nothing
    EXPECT_EQ(calls, 1);
}

TEST(RunEnds, ThatThrowAreThrownByWait) {
    const auto breaks = [](const RunEnd&) { throw std::runtime_error("the callback broke"); };
    const auto failure_of = [&breaks](const Graph& graph) -> std::string {
        try {
            run(graph, {.on_end = breaks});
            return "nothing";
        } catch (const std::exception& error) {
            return error.what();
        }
    };
    Graph well{"well"};
    well.source(test::Numbers{10}).sink([](std::uint64_t) {});
    EXPECT_EQ(failure_of(well), "the callback broke");
    Graph broken{"broken"};
    broken.source(test::Numbers{10})
        .sink([](std::uint64_t) { throw std::runtime_error("first"); }, {.name = "sink"});
    EXPECT_EQ(failure_of(broken), "operator 'sink': first");
}

struct CannotOpen : test::Numbers {
    static constexpr SourceTraits traits{.hears = events<Opened>};
    void on(const Opened&) { throw std::runtime_error("no such thing"); }
};

TEST(RunEnds, AreNotReportedForARunThatDidNotStart) {
    Graph graph{"closed"};
    graph.source(CannotOpen{}).sink([](std::uint64_t) {});
    int calls = 0;
    EXPECT_THROW((void)start(graph, {.on_end = [&calls](const RunEnd&) { ++calls; }}),
                 OperatorError);
    EXPECT_EQ(calls, 0);
}

TEST(RunEnds, OfADroppedRunAreCancelled) {
    Graph graph{"dropped"};
    auto [inlet, stream] = graph.inlet<int>(1);
    std::move(stream).sink([](int) {});
    std::optional<Outcome> outcome;
    {
        Running running = start(graph, {.on_end = [&](const RunEnd& e) { outcome = e.outcome; }});
    }
    EXPECT_EQ(outcome, Outcome::cancelled);
}

}  // namespace
}  // namespace strid
