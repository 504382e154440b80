// SPDX-License-Identifier: Apache-2.0
//
// The text of explain() for patterns, word for word.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/pattern/explain.hpp>
#include <strid/pattern/resource.hpp>
#include <strid/pattern/workers_in_use.hpp>

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

TEST(Explain, LimitsResourcesAndWorkersInUse) {
    const Resource device(1);
    const auto pass = node<std::uint64_t>([](std::uint64_t n, auto& emit) { emit(n); });
    const auto pattern =
        pipeline(named("numbers", numbers()),
                 limited(pipeline(using_resource(device, square), named("again", iterate(pass))),
                         {.tasks = 8, .when_full = WhenFull::drop_oldest}),
                 farm(square, RoundRobin{}, {.workers = 3, .in_use = WorkersInUse(2)}),
                 [](std::uint64_t) {});
    EXPECT_EQ(explain(pattern, {.execution = {.workers = 2}, .lane_tasks = 16}),
              "Parts\n"
              "  pipeline\n"
              "    numbers 1 (source): makes unsigned long\n"
              "    limited to 8 tasks, the oldest that waits is dropped\n"
              "      limit 2: takes unsigned long, makes unsigned long\n"
              "      pipeline\n"
              "        node 3: takes unsigned long, makes unsigned long, while it has a resource\n"
              "        loop 'again'\n"
              "          again 4 (loop): takes unsigned long, makes unsigned long\n"
              "          again 5: takes unsigned long, makes unsigned long\n"
              "      limit end 6: takes unsigned long, makes unsigned long\n"
              "    farm of 3 workers, RoundRobin, in use 2 at first\n"
              "      node 7: takes unsigned long, makes unsigned long\n"
              "    node 10: takes unsigned long\n"
              "Lanes\n"
              "  numbers 1 -> limit 2: 1 task of 8 B, 8 B\n"
              "  limit 2 -> node 3: 16 tasks of 24 B, 384 B\n"
              "  node 3 -> again 4: 16 tasks of 24 B, 384 B\n"
              "  again 4 -> again 5: 16 tasks of 24 B, 384 B\n"
              "  again 5 -> again 4: any number of tasks of 24 B, back, within the limit\n"
              "  again 5 -> limit end 6: 16 tasks of 24 B, 384 B\n"
              "  limit end 6 -> node 7: 3 lanes of 16 tasks of 8 B, 384 B, RoundRobin\n"
              "  node 7 -> node 10: 3 lanes of 16 tasks of 8 B, 384 B\n"
              "  all that have a bound: 2.3 KiB\n"
              "Threads\n"
              "  2 for 10 nodes\n"
              "Without bound\n"
              "  nothing\n");
}

TEST(Explain, APatternInANodeHasNoThreads) {
    std::string inside;
    run(pipeline(numbers(1),
                 [&inside](std::uint64_t) { inside = explain<std::uint64_t>(square); }));
    EXPECT_THAT(inside, testing::HasSubstr("Threads\n"
                                           "  none of its own: those that wait for it step its 3 "
                                           "nodes\n"));
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

}  // namespace
}  // namespace strid
