// SPDX-License-Identifier: Apache-2.0
//
// The tasks of a run in their order: as paper 2 lays nodes out, as explain() lists them, and as an
// affinity names their processors.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/topology.hpp>
#include <strid/engine/block/node_order.hpp>
#include <strid/engine/block/rules.hpp>
#include <strid/engine/plan/plan.hpp>

#include "../../support/whereabouts.hpp"
#include "../test_sources.hpp"

namespace strid {
namespace {

using test::Numbers;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr RunOptions::Mode dedicated = RunOptions::Mode::dedicated;

struct Drop {
    static constexpr FunctionTraits traits{.hears = events<>, .parallel_by_default = true};

    void operator()(std::uint64_t) const {}
};

/// Named a, b and c, each spread over the replicas of the next.
Graph three_stages(std::size_t a, std::size_t b, std::size_t c) {
    Graph graph{"stages"};
    graph.source(Numbers{100}, {.name = "a", .parallelism = a})
        .rebalance()
        .map([](const std::uint64_t& n) { return n; }, {.name = "b", .parallelism = b})
        .rebalance()
        .sink(Drop{}, {.name = "c", .parallelism = c});
    return graph;
}

std::vector<std::string> tasks(const Graph& graph, const RunOptions& options) {
    const graph::Plan plan = graph::make_plan(graph.segments(), options, 2);
    std::vector<std::string> names;
    const std::vector<bool> alone(plan.fragments.size(), false);
    for (const graph::PlannedTask& task : graph::order_of_tasks(plan, alone)) {
        names.push_back(name_of(graph.segments(), plan, task));
    }
    return names;
}

/// The same stages in the block algebra, whose order is the paper's.
std::vector<std::string> nodes(std::size_t a, std::size_t b, std::size_t c) {
    using block::make_operator;
    using block::OperatorKind;
    block::ParallelBlock term = create(make_operator("a", OperatorKind::source, a)).term();
    term = add(term, make_operator("b", OperatorKind::map, b)).term();
    term = add(term, make_operator("c", OperatorKind::sink, c)).term();
    std::vector<std::string> names;
    for (const auto& [node, replica] : placement_order(term)) {
        names.push_back(node.functions().front().operator_name);
        const auto& name = names.back();
        if ((name == "a" ? a : name == "b" ? b : c) > 1) {
            names.back() += '#' + std::to_string(replica);
        }
    }
    return names;
}

TEST(Tasks, ComeInTheOrderInWhichThePaperLaysNodesOut) {
    const RunOptions options{.mode = dedicated};
    for (const auto& [a, b, c] : std::vector<std::array<std::size_t, 3>>{{1, 1, 1},
                                                                         {3, 3, 3},
                                                                         {1, 3, 3},
                                                                         {1, 4, 4},
                                                                         {2, 2, 2},
                                                                         {1, 2, 1},
                                                                         {3, 3, 1},
                                                                         {1, 1, 2}}) {
        SCOPED_TRACE(std::to_string(a) + ", " + std::to_string(b) + ", " + std::to_string(c));
        EXPECT_EQ(tasks(three_stages(a, b, c), options), nodes(a, b, c));
    }
}

TEST(Tasks, OfAStageWithFewerReplicasAreSpreadOverThoseOfTheOther) {
    EXPECT_THAT(tasks(three_stages(2, 4, 1), {.mode = dedicated}),
                ElementsAre("a#0", "b#0", "c", "b#1", "a#1", "b#2", "b#3"));
}

TEST(Tasks, AreListedByExplain) {
    EXPECT_THAT(three_stages(1, 2, 2).explain({.mode = dedicated}),
                HasSubstr("Tasks, as they are laid out on cores: a, b#0, c#0, b#1, c#1\n"));
}

/// As Numbers; sees where it is polled.
struct SeenNumbers : Numbers {
    std::shared_ptr<test::Sightings> sightings;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        sightings->add();
        return Numbers::poll(emit, budget);
    }
};

/// Source, map and sink, as the sightings of their threads.
std::vector<std::shared_ptr<test::Sightings>> sightings_of_tasks(const RunOptions& options) {
    std::vector<std::shared_ptr<test::Sightings>> tasks;
    for (int i = 0; i < 3; ++i) tasks.push_back(std::make_shared<test::Sightings>());
    Graph graph{"bound"};
    graph.source(SeenNumbers{{1'000}, tasks[0]})
        .rebalance()
        .map([seen = tasks[1]](const std::uint64_t& n) {
            seen->add();
            return n;
        })
        .rebalance()
        .sink([seen = tasks[2]](const std::uint64_t&) { seen->add(); });
    EXPECT_EQ(run(graph, options).records_out(), 1'000U);
    return tasks;
}

TEST(Tasks, RunOnTheProcessorsThatAnAffinityNames) {
    const Topology topology = Topology::detect();
    const int first = topology.cores().front().processor;
    const int last = topology.cores().back().processor;
    const std::vector<int> affinity{first, last, first};
    const auto own =
        sightings_of_tasks({.mode = dedicated, .parallelism = 1, .affinity = affinity});
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(test::was_only_on(*own[i], affinity[i])) << i;
    // A worker without work takes a step of another's task, on its own processor.
    const auto shared = sightings_of_tasks({.parallelism = 1, .affinity = affinity});
    for (const auto& task : shared) {
        for (const test::Whereabouts& found : task->all()) {
            EXPECT_TRUE(found.is_on == first || found.is_on == last);
            EXPECT_EQ(found.may_be_on, std::vector{found.is_on});
        }
    }
}

TEST(Tasks, AreNamedWhereAnAffinityDoesNotFitThem) {
    const auto refusal = [](std::vector<int> affinity) -> std::string {
        try {
            run(three_stages(1, 2, 1), {.mode = dedicated, .affinity = std::move(affinity)});
        } catch (const GraphError& error) {
            return error.what();
        }
        return "";
    };
    const Topology topology = Topology::detect();
    const int here = topology.cores().front().processor;
    EXPECT_THAT(refusal({here}), HasSubstr("names 1 processors for 4 tasks: a, b#0, c, b#1"));
    EXPECT_THAT(refusal({here, here, here, 12345}),
                HasSubstr("task 'b#1' is bound to processor 12345, which does not exist"));
}

}  // namespace
}  // namespace strid
