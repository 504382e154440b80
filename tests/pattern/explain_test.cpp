// SPDX-License-Identifier: Apache-2.0
//
// What explain() says of patterns, word for word, and that what is described is what runs: every
// task that a node took came through one of the lanes that lead to it.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
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

TEST(Explain, ALoopOfAFarm) {
    EXPECT_EQ(explain(pipeline(source(one_range), iterate(farm(divide)), [](int) {}),
                      {.execution = {.workers = 2}}),
              "Parts\n"
              "  pipeline\n"
              "    source 1: makes strid::Range\n"
              "    loop\n"
              "      loop 2: takes strid::Range, makes strid::Range\n"
              "      farm of 2 workers, Adaptive\n"
              "        node 3: takes strid::Range, makes int\n"
              "    node 5: takes int\n"
              "Lanes\n"
              "  source 1 -> loop 2: 2,048 tasks of 8 B, 16 KiB\n"
              "  loop 2 -> node 3: 2 lanes of 2,048 tasks of 8 B, 32 KiB, Adaptive\n"
              "  node 3 -> loop 2: 2 lanes of any number of tasks of 8 B, back\n"
              "  node 3 -> node 5: 2 lanes of 2,048 tasks of 4 B, 16 KiB\n"
              "  all that have a bound: 64 KiB\n"
              "Threads\n"
              "  2 for 5 nodes\n"
              "Without bound\n"
              "  tasks that go back, node 3 -> loop 2\n");
}

TEST(Explain, NamesPoliciesAndWhatIsFused) {
    const auto half = [](std::uint64_t n) { return static_cast<double>(n) / 2; };
    const auto text = [](double x) { return std::to_string(x); };
    const auto same = [](std::string s) { return s; };
    const auto length = [](const std::string& s) { return s.size(); };
    const auto pattern = pipeline(
        named("numbers", numbers()),
        named("print", ordered_farm(fused(half, text), OnDemand{3}, {.workers = 4})),
        named("check",
              farm(pipeline(same, named("measure", length)), ByKey{length}, {.workers = 2})),
        [](std::uint64_t) {});
    EXPECT_EQ(explain(pattern,
                      {.execution = {.mode = ExecutionOptions::Mode::dedicated}, .lane_tasks = 3}),
              "Parts\n"
              "  pipeline\n"
              "    numbers 1 (source): makes unsigned long\n"
              "    ordered farm 'print' of 4 workers, OnDemand, depth 3\n"
              "      print 2: takes unsigned long, makes std::string\n"
              "        fused: unsigned long -> double\n"
              "        fused: double -> std::string\n"
              "      in order 6 (collector): takes std::string, makes std::string\n"
              "    farm 'check' of 2 workers, ByKey\n"
              "      pipeline\n"
              "        check 7: takes std::string, makes std::string\n"
              "        measure 8: takes std::string, makes unsigned long\n"
              "    node 11: takes unsigned long\n"
              "Lanes\n"
              "  numbers 1 -> print 2: 4 lanes of 4 tasks of 8 B, 128 B, OnDemand, depth 3\n"
              "  print 2 -> in order 6: 4 lanes of 4 tasks of 32 B, 512 B\n"
              "  numbers 1 -> in order 6: 4 runs of 8 B, 32 B, the order of the tasks\n"
              "  in order 6 -> check 7: 2 lanes of 4 tasks of 32 B, 256 B, ByKey\n"
              "  check 7 -> measure 8: 2 lanes of 4 tasks of 32 B, 256 B\n"
              "  measure 8 -> node 11: 2 lanes of 4 tasks of 8 B, 64 B\n"
              "  all that have a bound: 1.2 KiB\n"
              "Threads\n"
              "  11 for 11 nodes\n"
              "Without bound\n"
              "  nothing\n");
}

TEST(Explain, AFarmOfFarmsHasEmitters) {
    const auto inner = farm(square, RoundRobin{}, {.workers = 2});
    EXPECT_EQ(explain<std::uint64_t>(farm(inner, FarmOptions{.workers = 3}),
                                     {.execution = {.workers = 1}, .lane_tasks = 16}),
              "Parts\n"
              "  entrance: makes unsigned long\n"
              "  farm of 3 workers, Adaptive\n"
              "    emitter 1: takes unsigned long, makes unsigned long\n"
              "    farm of 2 workers, RoundRobin\n"
              "      node 2: takes unsigned long, makes unsigned long\n"
              "  exit: takes unsigned long\n"
              "Lanes\n"
              "  entrance -> emitter 1: 3 lanes of 16 tasks of 8 B, 384 B, Adaptive\n"
              "  emitter 1 -> node 2: 6 lanes of 16 tasks of 8 B, 768 B, RoundRobin\n"
              "  node 2 -> exit: 6 lanes of 16 tasks of 8 B, 768 B\n"
              "  all that have a bound: 1.9 KiB\n"
              "Threads\n"
              "  1 for 11 nodes\n"
              "Without bound\n"
              "  results that are not taken, at exit\n");
}

TEST(Explain, OneNodeAloneAndAPatternBehindAType) {
    const AnyPattern<int, int> any{named("twice", [](int n) { return 2 * n; })};
    EXPECT_EQ(explain<int>(pipeline(any, [](int) {}), {.execution = {.workers = 1}}),
              "Parts\n"
              "  entrance: makes int\n"
              "  pipeline\n"
              "    twice 1: takes int, makes int\n"
              "    node 2: takes int\n"
              "Lanes\n"
              "  entrance -> twice 1: 2,048 tasks of 4 B, 8 KiB\n"
              "  twice 1 -> node 2: 2,048 tasks of 4 B, 8 KiB\n"
              "  all that have a bound: 16 KiB\n"
              "Threads\n"
              "  1 for 3 nodes\n"
              "Without bound\n"
              "  nothing\n");
}

struct Local {
    template <class T>
    struct Policy {};
};

TEST(Description, NamesAPolicyByItsOwnName) {
    struct Fresh {};
    EXPECT_EQ(pattern::detail::name_of_policy(RoundRobin{}), "RoundRobin");
    EXPECT_EQ(pattern::detail::name_of_policy(OnDemand{5}), "OnDemand, depth 5");
    EXPECT_EQ(pattern::detail::name_of_policy(
                  Weighted{[](const Range& range) { return range.last - 1.0; }}),
              "Weighted");
    EXPECT_EQ(pattern::detail::name_of_policy(Local::Policy<std::vector<Range>>{}), "Policy");
    EXPECT_EQ(pattern::detail::name_of_policy(Fresh{}), "Fresh");
}

/// A farm behind a farm: each worker of the one has a lane to each of the other.
TEST(Description, OfAnAllToAll) {
    const auto network =
        describe(pipeline(numbers(), farm(square, FarmOptions{.workers = 2}),
                          farm([](std::uint64_t) {}, LeastLoaded{}, {.workers = 3})));
    std::vector<std::pair<std::size_t, std::size_t>> lanes;
    std::vector<std::string> policies;
    for (const auto& lane : network.lanes) {
        lanes.emplace_back(lane.from, lane.to);
        policies.push_back(network.policy_of(lane));
    }
    using Lanes = std::vector<std::pair<std::size_t, std::size_t>>;
    EXPECT_EQ(lanes, (Lanes{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {1, 4}, {2, 4}, {1, 5}, {2, 5}}));
    const std::string outer = "Adaptive";
    const std::string inner = "LeastLoaded";
    EXPECT_EQ(policies,
              (std::vector<std::string>{outer, outer, inner, inner, inner, inner, inner, inner}));
    EXPECT_EQ(network.first_replicas(), (std::vector<std::size_t>{0, 1, 1, 3, 3, 3}));
    EXPECT_EQ(network.nodes[4].name, "node 5, replica 1");
    EXPECT_EQ(network.name_of_all(3), "node 4");
}

/// What went into a lane: tasks of a node that makes one of each, or the runs of an order.
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
TEST(PatternReport, OfARunningPatternTellsWhatWaits) {
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
