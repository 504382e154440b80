// SPDX-License-Identifier: Apache-2.0
//
// Reports: every task that a node took came through one of the lanes that lead to it, and what it
// made went into those that lead on; rates and shares; the texts of a report by hand.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <strid/pattern/accelerator.hpp>
#include <strid/pattern/explain.hpp>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

struct Range {
    int first, last;
};

const auto one_range = [given = false]() mutable -> std::optional<Range> {
    if (given) return std::nullopt;
    given = true;
    return Range{0, 10'000};
};
const auto divide = node<int>([](Range range, auto& emit) {
    if (range.last - range.first <= 100) return emit(range.last - range.first);
    const int middle = (range.first + range.last) / 2;
    emit.again(Range{range.first, middle});
    emit.again(Range{middle, range.last});
});

/// The tasks that went into a lane: those of a node that makes one of each, or the runs of an
/// order.
void expect_tasks_agree(const Report& report) {
    const auto& network = report.network;
    std::vector<std::uint64_t> came(network.nodes.size());
    std::vector<std::uint64_t> went(network.nodes.size());
    for (std::size_t i = 0; i < report.lanes.size(); ++i) {
        EXPECT_EQ(report.lanes[i].waiting, 0U);
        if (network.lanes[i].kind == LaneKind::order) continue;
        came[network.lanes[i].to] += report.lanes[i].tasks;
        if (network.lanes[i].kind == LaneKind::forward) {
            went[network.lanes[i].from] += report.lanes[i].tasks;
        }
    }
    for (std::size_t i = 0; i < report.nodes.size(); ++i) {
        SCOPED_TRACE(report[i].name);
        EXPECT_EQ(report[i].counters.tasks_in, came[i]);
        EXPECT_EQ(report[i].counters.tasks_out, went[i]);
        EXPECT_TRUE(report[i].counters.steps.finished);
    }
}

TEST(PatternReport, TasksThatCameInWentThroughALane) {
    for (const Options& options : all_options()) {
        const Report report =
            run(pipeline(numbers(), ordered_farm(square, FarmOptions{.workers = 3}),
                         farm(pipeline(square, square), RoundRobin{}, {.workers = 2}),
                         farm([](std::uint64_t) {}, FarmOptions{.workers = 2})),
                options);
        expect_tasks_agree(report);
        EXPECT_TRUE(report.ended);
        EXPECT_EQ(report.tasks_in(), task_count);
        EXPECT_EQ(report.tasks_done(), task_count);
    }
}

/// 10,000 is halved 7 times, so that 128 ranges leave; 127 are divided, and 254 go back.
TEST(PatternReport, CountsWhatGoesBack) {
    for (const Options& options : all_options()) {
        const Report report =
            run(pipeline(source(one_range), iterate(farm(divide, FarmOptions{.workers = 2})),
                         [](int) {}),
                options);
        expect_tasks_agree(report);
        std::uint64_t back = 0;
        for (std::size_t i = 0; i < report.lanes.size(); ++i) {
            if (report.network.lanes[i].kind == LaneKind::back) back += report.lanes[i].tasks;
        }
        EXPECT_EQ(back, 254U);
        EXPECT_EQ(report[1].counters.tasks_in, 255U);
        EXPECT_EQ(report[2].counters.tasks_in + report[3].counters.tasks_in, 255U);
        EXPECT_EQ(report.tasks_done(), 128U);
    }
}

TEST(PatternReport, OfAnAcceleratorCountsWhatWasTaken) {
    auto squares = accelerate<std::uint64_t>(ordered_farm(square));
    for (std::uint64_t n = 0; n < task_count; ++n) {
        squares.offload(n);
        if (n % 2 != 0) {
            EXPECT_TRUE(squares.result().has_value());
        }
    }
    squares.end();
    while (squares.result()) {
    }
    squares.wait();
    const Report report = squares.report();
    expect_tasks_agree(report);
    EXPECT_EQ(report.tasks_in(), task_count);
    EXPECT_EQ(report.tasks_done(), task_count);
    EXPECT_EQ(explain(squares.description()), explain<std::uint64_t>(ordered_farm(square)));
}

/// The worker waits before its first task: the others wait in the lane before it.
TEST(PatternReport, OfARunningPatternShowsWhatWaits) {
    std::atomic<bool> began{false};
    std::atomic<bool> release{false};
    auto all = accelerate<int>(
        [&](int n) {
            began = true;
            began.notify_all();
            release.wait(false);
            return n;
        },
        {.execution = {.workers = 2}, .lane_tasks = 8});
    for (int n = 0; n < 4; ++n) all.offload(n);
    began.wait(false);
    const Report report = all.report();
    EXPECT_FALSE(report.ended);
    EXPECT_GT(report.seconds, 0);
    EXPECT_EQ(report.lanes[0].tasks, 4U);
    EXPECT_EQ(report.lanes[0].waiting, 4U);  // the one that is being worked on among them
    EXPECT_EQ(report.fill(0), 0.5);
    release = true;
    release.notify_all();
    all.freeze();
}

TEST(PatternReport, SharesAndTimesAreThoseOfTheRun) {
    using namespace std::chrono_literals;
    const auto began = std::chrono::steady_clock::now();
    const Report report = run(pipeline(
                                  numbers(5),
                                  [](std::uint64_t n) {
                                      std::this_thread::sleep_for(10ms);
                                      return n;
                                  },
                                  [](std::uint64_t) {}),
                              {.execution = {.workers = 3}});
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    EXPECT_GE(report.seconds, 0.05);
    EXPECT_LE(report.seconds, seconds);
    EXPECT_GE(report[1].task_ns, 10e6);
    EXPECT_GE(report[1].busy_share, 0.05 / seconds);
    EXPECT_LE(report[1].busy_share, 1.0);
    EXPECT_DOUBLE_EQ(report[1].tasks_per_second, 5 / report.seconds);
    EXPECT_LE(report[2].busy_share + report[2].idle_share, 1.0);
}

Report by_hand() {
    Report report;
    report.network = {.threads = 2,
                      .nodes = {{.name = "numbers 1", .type = {.kind = "source", .makes = "int"}},
                                {.name = "a \"b\" 2", .type = {.takes = "int"}}},
                      .lanes = {{.from = 0, .to = 1, .tasks_max = 1024, .task_bytes = 4},
                                {.from = 1, .to = 0, .kind = LaneKind::back, .task_bytes = 4}}};
    report.seconds = 2;
    report.nodes = {{.name = "numbers 1",
                     .counters = {.tasks_out = 3000,
                                  .steps = {.steps = 10, .busy_ns = 500'000'000, .idle_ns = 1000},
                                  .own = {}},
                     .tasks_per_second = 1500,
                     .task_ns = 166'666.7,
                     .busy_share = 0.25,
                     .idle_share = 0.5},
                    {.name = "a \"b\" 2",
                     .counters = {.tasks_in = 2994,
                                  .steps = {.steps = 7, .busy_ns = 600, .finished = true},
                                  .own = {{"seen", 4}}},
                     .tasks_per_second = 1497,
                     .task_ns = 1200,
                     .busy_share = 1,
                     .idle_share = 0}};
    report.lanes = {{.tasks = 3000, .waiting = 6}, {.tasks = 12, .waiting = 12}};
    return report;
}

TEST(PatternReport, AsText) {
    EXPECT_EQ(by_hand().to_text(),
              "node          in    out  tasks/s  task time   busy  idle\n"
              "numbers 1      0  3,000   1.50 k     167 us   25 %  50 %\n"
              "a \"b\" 2    2,994      0   1.50 k    1.20 us  100 %   0 %\n"
              "lane                         tasks  waiting        of\n"
              "numbers 1 -> a \"b\" 2         3,000        6     1,024\n"
              "a \"b\" 2 -> numbers 1 (back)     12       12  no bound\n");
}

TEST(PatternReport, AsJson) {
    EXPECT_EQ(
        by_hand().to_json(),
        R"({"seconds":2.000000,"ended":false,"threads":2,"tasks_in":3000,"tasks_done":2994,)"
        R"("nodes":[{"name":"numbers 1","kind":"source","replica":0,"tasks_in":0,)"
        R"("tasks_out":3000,"steps":10,"busy_ns":500000000,"idle_ns":1000,)"
        R"("tasks_per_second":1500.0,"task_ns":166666.7,"busy_share":0.250,"idle_share":0.500,)"
        R"("finished":false,"counters":{}},{"name":"a \"b\" 2","kind":"node","replica":0,)"
        R"("tasks_in":2994,"tasks_out":0,"steps":7,"busy_ns":600,"idle_ns":0,)"
        R"("tasks_per_second":1497.0,"task_ns":1200.0,"busy_share":1.000,"idle_share":0.000,)"
        R"("finished":true,"counters":{"seen":4}}],"lanes":[{"from":0,"to":1,"kind":"forward",)"
        R"("tasks_max":1024,"task_bytes":4,"tasks":3000,"waiting":6},{"from":1,"to":0,)"
        R"("kind":"back","tasks_max":null,"task_bytes":4,"tasks":12,"waiting":12}]})");
}

}  // namespace
}  // namespace strid
