// SPDX-License-Identifier: Apache-2.0
//
// The rules of engine/plan/block_term.hpp: the block term that explain_algebra() shows and the plan
// that runs agree on nodes, edges and deliveries. Here for random graphs in every way to run them,
// for the shapes in which they once differed, and for planted faults, each of which is named. Every
// other graph of the tests is held against its term when it runs perturbed.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/engine/plan/block_term.hpp>

#include "random_graph.hpp"

namespace strid {
namespace {

using graph::Delivery;
using graph::Fragment;
using graph::Plan;
using test::all_ways;
using test::Numbers;
using testing::HasSubstr;

constexpr std::size_t cores = 4;

Plan plan_of(const Graph& graph, const RunOptions& options) {
    return graph::make_plan(graph.segments(), options, cores);
}
std::string disagreement(const Graph& graph, const RunOptions& options) {
    const Plan plan = plan_of(graph, options);
    return graph::disagreement(graph::composition_of(graph.segments(), plan), graph.segments(),
                               plan);
}

TEST(BlockTerm, AgreesWithThePlanOfRandomGraphs) {
    std::uint64_t seed = test::first_seed();
    std::size_t in_grammar = 0;
    std::size_t all = 0;
    for (int drawn = 0; drawn != 24; ++drawn, ++seed) {
        const test::RandomGraph random{seed};
        const Graph& graph = random.graph();
        for (const auto& way : all_ways()) {
            ASSERT_EQ(disagreement(graph, way.options), "")
                << "seed " << seed << ", " << way.name << "\n"
                << graph.explain_algebra(way.options);
        }
        const Plan plan = plan_of(graph, {});
        in_grammar += graph::composition_of(graph.segments(), plan).in_grammar() ? 1 : 0;
        ++all;
    }
    EXPECT_NE(in_grammar, 0U);
    EXPECT_NE(in_grammar, all) << "terms of both forms are compared";
}

/// As many threads as the paper counts nodes: placement_order() visits each of them once.
TEST(BlockTerm, HasANodeForEachThreadOfDedicatedMode) {
    std::uint64_t seed = test::first_seed();
    for (int drawn = 0; drawn != 20; ++drawn, ++seed) {
        const test::RandomGraph random{seed};
        const Graph& graph = random.graph();
        for (const auto& way : all_ways()) {
            if (way.options.mode != RunOptions::Mode::dedicated) continue;
            const Plan plan = plan_of(graph, way.options);
            const std::vector<bool> none(plan.fragments.size(), false);
            const auto term = graph::composition_of(graph.segments(), plan);
            ASSERT_EQ(order_of_tasks(plan, none).size(), placement_order(term).size())
                << "seed " << seed << ", " << way.name;
        }
    }
}

struct Drop {
    static constexpr FunctionTraits traits{.hears = events<>, .parallel_by_default = true};

    void operator()(std::uint64_t) const {}
};
const auto same = [](const std::uint64_t& n) { return n; };

// ---- shapes in which term and plan once differed
// -------------------------------------------------

/// To any replica, also where there are as many as before: no pipes.
TEST(BlockTerm, SpreadsBetweenAsManyReplicas) {
    Graph graph{"spread"};
    graph.source(Numbers{1}, {.name = "s", .parallelism = 2})
        .rebalance()
        .map(same, {.name = "m", .parallelism = 2})
        .sink(Drop{}, {.name = "k"});
    EXPECT_THAT(graph.explain_algebra({.fuse = false}),
                HasSubstr("A2A([Pipe(Comb(Seq(s), Seq(f_d(m))))]^2, [Pipe(Seq(m) • Seq(k))]^2)"));
}

/// Distributing nodes stand before splits and merges, too, where the plan has them.
TEST(BlockTerm, HasTheDistributingNodesOfThePlan) {
    const auto built = [] {
        Graph graph{"routes"};
        auto branches = graph.source(Numbers{1}, {.name = "s", .parallelism = 2})
                            .split(2, [](const std::uint64_t& n) { return n % 2; });
        auto a = branches.select(0).rebalance().map(same, {.name = "a", .parallelism = 3});
        auto b = branches.select(1).rebalance().map(same, {.name = "b", .parallelism = 2});
        std::move(a).merge(std::move(b)).sink(Drop{}, {.name = "k", .parallelism = 1});
        return graph;
    };
    for (const auto composition :
         {Composition::combined, Composition::dedicated, Composition::centralised}) {
        for (const bool fuse : {true, false}) {
            EXPECT_EQ(disagreement(built(), {.fuse = fuse, .composition = composition}), "");
        }
    }
    EXPECT_THAT(built().explain_algebra({.composition = Composition::dedicated}),
                HasSubstr("[Pipe(Seq(a) • Seq(f_d(k)))]^3"));
    EXPECT_THAT(built().explain_algebra({.composition = Composition::centralised}),
                HasSubstr("A2A([Pipe(Seq(a))]^3, Pipe(Seq(f_d(k))))"));
}

/// Where the number of replicas changes within a section, the producers distribute themselves.
TEST(BlockTerm, HasNoDistributingNodesWhereThePlanHasNone) {
    Graph graph{"cut"};
    graph.source(Numbers{1}, {.name = "s"})
        .rebalance()
        .map(same, {.name = "a", .parallelism = 3})
        .map(same, {.name = "b", .parallelism = 2})
        .sink(Drop{}, {.name = "k", .parallelism = 2});
    for (const auto composition : {Composition::dedicated, Composition::centralised}) {
        EXPECT_EQ(disagreement(graph, {.composition = composition}), "");
    }
    EXPECT_THAT(graph.explain_algebra({.composition = Composition::dedicated}),
                HasSubstr("[Pipe(Comb(Seq(a), Seq(f_d(b))))]^3"));
}

// ---- planted faults
// ------------------------------------------------------------------------------

Graph stages() {
    Graph graph{"stages"};
    graph.source(Numbers{1}, {.name = "s"})
        .rebalance()
        .map(same, {.name = "a", .parallelism = 3})
        .map(same, {.name = "b", .parallelism = 3})
        .key_by([](const std::uint64_t& n) { return n; })
        .map(same, {.name = "c", .parallelism = 2})
        .sink(Drop{}, {.name = "k", .parallelism = 2});
    return graph;
}

/// The differences reported for a plan that was changed after its term was made.
std::string of_changed(const RunOptions& options, const std::function<void(Plan&)>& change) {
    const Graph graph = stages();
    Plan plan = plan_of(graph, options);
    const auto term = graph::composition_of(graph.segments(), plan);
    EXPECT_EQ(graph::disagreement(term, graph.segments(), plan), "");
    change(plan);
    return graph::disagreement(term, graph.segments(), plan);
}

TEST(BlockTerm, DiffersFromAPlanWithAnotherNumberOfReplicas) {
    EXPECT_EQ(of_changed({}, [](Plan& plan) { plan.fragments[1].parallelism = 4; }),
              "'a+b' is 3 nodes in the term and 4 in the plan");
}

TEST(BlockTerm, DiffersFromAPlanThatIsCutElsewhere) {
    const std::string message = of_changed({}, [](Plan& plan) {
        Fragment rest = plan.fragments[1];
        rest.first = 1;
        plan.fragments[1].last = 1;
        plan.fragments[1].edges = {{plan.fragments.size(), Delivery::direct}};
        plan.fragments.push_back(rest);
    });
    EXPECT_THAT(message, HasSubstr("only the term has node 'a+b'"));
    EXPECT_THAT(message, HasSubstr("only the plan has node 'a'"));
    EXPECT_THAT(message, HasSubstr("only the plan has node 'b'"));
    EXPECT_THAT(message,
                HasSubstr("'a' feeds 'b' within a node in the term and to the same replica "
                          "in the plan"));
}

TEST(BlockTerm, DiffersFromAPlanWithOtherEdges) {
    const std::string without = of_changed({}, [](Plan& plan) { plan.fragments[1].edges.clear(); });
    EXPECT_EQ(without, "only the term has the edge from 'b' to 'c'");
    const std::string with = of_changed({}, [](Plan& plan) {
        plan.fragments[0].edges.push_back({2, Delivery::by_key});
    });
    EXPECT_EQ(with, "only the plan has the edge from 's' to 'c'");
}

TEST(BlockTerm, DiffersFromAPlanThatDeliversOtherwise) {
    EXPECT_EQ(
        of_changed(
            {}, [](Plan& plan) { plan.fragments[1].edges[0].delivery = Delivery::least_loaded; }),
        "'b' feeds 'c' by key in the term and to any replica in the plan");
    EXPECT_EQ(
        of_changed({.fuse = false},
                   [](Plan& plan) { plan.fragments[1].edges[0].delivery = Delivery::to_all; }),
        "'a' feeds 'b' to the same replica in the term and to all in the plan");
}

TEST(BlockTerm, DiffersFromAPlanThatDistributesOtherwise) {
    const auto distributing = [](Plan& plan) -> Fragment& {
        return *std::find_if(plan.fragments.begin() + 3, plan.fragments.end(),
                             [](const Fragment& fragment) { return fragment.distributes; });
    };
    for (const auto composition : {Composition::dedicated, Composition::centralised}) {
        const bool dedicated = composition == Composition::dedicated;
        EXPECT_EQ(of_changed({.composition = composition},
                             [&](Plan& plan) { distributing(plan).parallelism = 2; }),
                  std::string("'distribution to c' is ") + (dedicated ? "3" : "1") +
                      " nodes in the term and 2 in the plan");
    }
}

}  // namespace
}  // namespace strid
