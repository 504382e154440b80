// SPDX-License-Identifier: Apache-2.0
//
// The watermark of a segment in the report: the one that it has sent, of several replicas the
// least.
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;

std::vector<std::optional<std::int64_t>> watermarks(const RunReport& report) {
    std::vector<std::optional<std::int64_t>> all;
    for (const SegmentReport& segment : report.segments) all.push_back(segment.watermark_ns);
    return all;
}

Event at(std::int64_t ns) {
    return {.key = 0, .time = EventTime::of_ns(ns), .value = 0};
}

TEST(ReportedWatermark, IsTheLastThatWasSentAndASinkHasNone) {
    Graph graph{"times"};
    graph.source(replay(std::vector<Event>{at(5), at(70)}))
        .event_time<&Event::time>(MonotonousTime{})
        .separate()
        .sink([](const Event&) {});
    const RunReport report = run(graph);
    EXPECT_THAT(watermarks(report), testing::ElementsAre(70, std::nullopt));
    EXPECT_THAT(report.to_json(), testing::HasSubstr("\"watermark_ns\":70,"));
    EXPECT_THAT(report.to_json(), testing::HasSubstr("\"watermark_ns\":null,"));
}

TEST(ReportedWatermark, WithoutTimesThereIsNone) {
    Graph graph{"no times"};
    graph.source(replay(std::vector<int>{1, 2})).separate().sink([](int) {});
    EXPECT_THAT(watermarks(run(graph)), testing::Each(std::nullopt));
}

TEST(ReportedWatermark, WhileItRunsItFollowsTheRecords) {
    Graph graph{"live"};
    auto [inlet, events] = graph.inlet<Event>();
    std::move(events).event_time<&Event::time>(MonotonousTime{}).separate().sink([](const Event&) {
    });
    Running running = start(graph);
    for (const std::int64_t ns : {10, 20, 300}) {
        EXPECT_TRUE(inlet.push(at(ns)));
        while (running.report().segments.front().watermark_ns != ns) std::this_thread::yield();
    }
    running.stop();
    EXPECT_EQ(running.wait().segments.front().watermark_ns, 300);
}

}  // namespace
}  // namespace strid
