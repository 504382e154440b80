// SPDX-License-Identifier: Apache-2.0
//
// The times that a segment reports: that between runs is distinguished by what was waited for,
// and what waited meanwhile and for how long is measured.
#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../test_sources.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using test::Numbers;

std::uint64_t total_ns(const SegmentReport& segment) {
    return segment.busy_ns + segment.idle_ns + segment.refused_ns;
}

TEST(SegmentTimes, ASlowSinkMakesTheSourceWaitForRoom) {
    if (test::perturbed) GTEST_SKIP() << "too short to distinguish times";
    Graph graph{"slow sink"};
    graph
        .source(Numbers{100'000})  // of which a tenth fits between source and sink
        .rebalance()               // to a task of its own
        .map([](std::uint64_t& n) { ++n; })
        .sink([taken = 0](const std::uint64_t&) mutable {
            if (++taken % 500 == 0) std::this_thread::sleep_for(1ms);
        });
    const RunReport report = run(graph, {.workers = 2, .parallelism = 1});
    const auto run_ns = static_cast<std::uint64_t>(report.seconds * 1e9);
    const SegmentReport& source = report.segments.front();
    const SegmentReport& sink = report.segments.back();
    EXPECT_GT(sink.busy_ns, run_ns / 2);
    EXPECT_GT(source.refused_ns, run_ns / 4);
    EXPECT_LT(source.idle_ns, run_ns / 10);
    EXPECT_LE(total_ns(source), run_ns);
    EXPECT_LE(total_ns(sink), run_ns);
}

TEST(SegmentQueues, BehindASlowSinkTheyAreFull) {
    if (test::perturbed) GTEST_SKIP() << "one block a ring: nothing waits behind a batch";
    Graph graph{"slow sink"};
    graph.source(Numbers{100'000})
        .rebalance()
        .map([](std::uint64_t& n) { ++n; })
        .sink([taken = 0](const std::uint64_t&) mutable {
            if (++taken % 500 == 0) std::this_thread::sleep_for(1ms);
        });
    const RunReport report = run(graph, {.workers = 2, .parallelism = 1});
    EXPECT_EQ(report.segments.front().queue_fill, 0) << "a source has no input";
    // Not 1: behind the last batches there are none.
    EXPECT_GT(report.segments.back().queue_fill, 0.7);
    EXPECT_LE(report.segments.back().queue_fill, 1);
    EXPECT_THAT(report.to_json(),
                testing::HasSubstr(
                    fmt::format(R"("queue_fill":{:.3f})", report.segments.back().queue_fill)));
}

TEST(SegmentQueues, BehindASlowSourceTheyAreEmpty) {
    Graph graph{"slow source"};
    auto [inlet, stream] = graph.inlet<std::uint64_t>();
    std::move(stream).rebalance().sink([](const std::uint64_t&) {});
    Running running = start(graph, {.workers = 2, .parallelism = 1});
    for (std::uint64_t n = 0; n != 20; ++n) {
        inlet.push(n);
        std::this_thread::sleep_for(2ms);
    }
    inlet.close();
    EXPECT_LT(running.wait().segments.back().queue_fill, 0.1);
}

// A batch of one record at a time, and each waits for those before it: the youngest is seen after
// one pause of the sink, the oldest after as many as wait.
TEST(SegmentLatency, IsTheTimeFromTheEntryToTheEndOfTheBatch) {
    constexpr std::int64_t pause_ns = 2'000'000;
    Graph graph{"sleeping sink"};
    auto [inlet, stream] = graph.inlet<std::uint64_t>();
    std::move(stream).rebalance().sink(
        [](const std::uint64_t&) { std::this_thread::sleep_for(2ms); });
    Running running = start(graph, {.workers = 2, .parallelism = 1});
    constexpr std::uint64_t pushed = 50;
    for (std::uint64_t n = 0; n != pushed; ++n) {
        inlet.push(n);
        std::this_thread::sleep_for(5ms);
    }
    inlet.close();
    const RunReport report = running.wait();
    const LatencyReport& source = report.segments.front().latency;
    const LatencyReport& sink = report.segments.back().latency;
    EXPECT_EQ(source.count, pushed);
    EXPECT_EQ(sink.count, pushed);
    EXPECT_EQ(report.latency.count, pushed);
    EXPECT_GE(sink.p50_ns, pause_ns * 9 / 10);  // the histogram rounds
    EXPECT_LT(sink.p50_ns, 5 * pause_ns);
    EXPECT_GE(sink.mean_ns, static_cast<double>(pause_ns));
    EXPECT_LT(source.p50_ns, pause_ns) << "the source has handed the record on long before";
    for (const LatencyReport& latency : {source, sink}) {
        EXPECT_LE(latency.p50_ns, latency.p95_ns);
        EXPECT_LE(latency.p95_ns, latency.p99_ns);
        EXPECT_LE(latency.p99_ns, latency.max_ns);
        std::uint64_t counted = 0;
        std::int64_t before_ns = -1;
        for (const auto& [at_most_ns, count] : latency.histogram) {
            EXPECT_GT(at_most_ns, before_ns);
            before_ns = at_most_ns;
            counted += count;
        }
        EXPECT_EQ(counted, latency.count);
        EXPECT_GE(before_ns, latency.max_ns);
    }
    EXPECT_LT(static_cast<double>(sink.max_ns), report.seconds * 1e9);
}

TEST(SegmentTimes, ASlowChainGivesTheWorkerBackSoon) {
    std::uint64_t taken = 0;
    Graph graph{"slow chain"};
    graph.source(Numbers{1'000'000}).sink([&taken](const std::uint64_t&) {
        ++taken;
        std::this_thread::sleep_for(1ms);
    });
    Running running = start(graph, {.workers = 1});
    // The counts are brought up to date when a run of the node ends.
    RunReport midway = running.report();
    while (midway.records_in() == 0) {
        std::this_thread::sleep_for(1ms);
        midway = running.report();
    }
    running.stop();
    const RunReport report = running.wait();
    EXPECT_EQ(report.records_in(), taken);
    EXPECT_LT(midway.records_in(), 500U) << "as many at once as took half a second";
    EXPECT_LT(report.records_in() - midway.records_in(), 500U);
}

TEST(SegmentTimes, ASlowSourceLeavesTheSinkIdle) {
    Graph graph{"slow source"};
    auto [inlet, stream] = graph.inlet<std::uint64_t>();
    std::move(stream).rebalance().sink([](const std::uint64_t&) {});
    Running running = start(graph, {.workers = 2, .parallelism = 1});
    for (std::uint64_t n = 0; n != 10; ++n) {
        inlet.push(n);
        std::this_thread::sleep_for(10ms);
    }
    // The wait that is on counts as well.
    const RunReport midway = running.report();
    EXPECT_GT(midway.segments.back().idle_ns, 50'000'000U);
    inlet.close();
    const RunReport report = running.wait();
    const auto run_ns = static_cast<std::uint64_t>(report.seconds * 1e9);
    for (const SegmentReport& segment : report.segments) {
        EXPECT_GT(segment.idle_ns, run_ns / 2);
        EXPECT_EQ(segment.refused_ns, 0U);
        EXPECT_LE(total_ns(segment), run_ns);
    }
}

}  // namespace
}  // namespace strid
