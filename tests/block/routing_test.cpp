// SPDX-License-Identifier: Apache-2.0
//
// The places of the nodes that distribute records (paper 2, figure 17), also before splits and
// merges and different for each operator of a graph; and the shuffle between equal numbers of
// replicas. The terms are written by hand from the figure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/engine/block/dag.hpp>
#include <strid/engine/block/grammar.hpp>
#include <strid/engine/block/rules.hpp>

#include "operators.hpp"

namespace strid::block {
namespace {

using ::testing::ElementsAre;
using testing::keyby;
using testing::map;
using testing::sink;
using testing::source;

constexpr auto combined = ShuffleComposition::combined;
constexpr auto dedicated = ShuffleComposition::dedicated;
constexpr auto centralised = ShuffleComposition::centralised;

ParallelBlock begin(const OperatorDescriptor& descriptor) {
    return create(descriptor).term();
}

TEST(Routing, ARebalanceIsAShuffleAlsoToAsManyReplicas) {
    OperatorDescriptor spread = map("m", 2);
    spread.distribution = DistributionKind::rebalance;
    const RuleOutcome outcome = chain(begin(source("s", 2)), spread);
    EXPECT_EQ(to_string(outcome.term()),
              "A2A([Pipe(Comb(Seq(s), Seq(f_d(m))))]^2, [Pipe(Seq(m))]^2)");
    EXPECT_THAT(outcome.transition().rules, ElementsAre(Rule::chain_2, Rule::add_shuffle));
}

TEST(Routing, ASplitMayHaveNodesThatOnlyDistribute) {
    const ParallelBlock start = begin(source("s", 2));
    const ParallelBlock behind_each =
        split(start, start, {map("a"), map("b", 2)}, dedicated).term();
    EXPECT_EQ(to_string(behind_each),
              "A2A([Pipe(Seq(s) • Comb◂(Seq(f_s(s)), {Seq(f_d(a)), Seq(f_d(b))}))]^2, "
              "[Pipe(Seq(a)), [Pipe(Seq(b))]^2])");
    const ParallelBlock behind_all =
        split(start, start, {map("a"), map("b", 2)}, centralised).term();
    EXPECT_EQ(to_string(behind_all),
              "A2A(A2A([Pipe(Seq(s))]^2, Pipe(Comb◂(Seq(f_s(s)), {Seq(f_d(a)), Seq(f_d(b))}))), "
              "[Pipe(Seq(a)), [Pipe(Seq(b))]^2])");
    for (const ParallelBlock& term : {behind_each, behind_all}) {
        EXPECT_TRUE(is_multipipe(term));
        EXPECT_THAT(MultiPipe::view(term)->rightmost(),
                    ElementsAre(begin(map("a")), begin(map("b", 2))));
        EXPECT_TRUE(add_in(term, begin(map("a")), sink("k")));
    }
}

TEST(Routing, EachStreamOfAMergeMayHaveItsOwn) {
    const ParallelBlock s = begin(source("s", 2));
    const ParallelBlock t = begin(source("t", 2));
    const ParallelBlock u = begin(source("u", 2));
    const RuleOutcome outcome =
        merge_independent({s, t, u}, keyby(map("m")), {{t, dedicated}, {u, centralised}});
    EXPECT_EQ(to_string(outcome.term()),
              "A2A([[Pipe(Comb(Seq(s), Seq(f_d(m))))]^2, [Pipe(Seq(t) • Seq(f_d(m)))]^2, "
              "A2A([Pipe(Seq(u))]^2, Pipe(Seq(f_d(m))))], Pipe(Seq(m)))");
    EXPECT_TRUE(is_multipipe(outcome.term()));
    EXPECT_EQ(merge_independent({s, t, u}, map("m"), {{s, combined}}).term(),
              merge_independent({s, t, u}, map("m")).term());
}

TEST(Routing, SiblingsMergeWithTheirs) {
    const ParallelBlock start = begin(source("s"));
    const ParallelBlock term = split(start, start, {map("a"), map("b", 2)}).term();
    const RuleOutcome outcome = merge(term, {begin(map("a")), begin(map("b", 2))}, map("m"),
                                      {{begin(map("b", 2)), dedicated}});
    EXPECT_EQ(to_string(outcome.term()),
              "A2A(Pipe(Comb(Seq(s), Comb◂(Seq(f_s(s)), {Seq(f_d(a)), Seq(f_d(b))}))), "
              "A2A([Pipe(Comb(Seq(a), Seq(f_d(m)))), [Pipe(Seq(b) • Seq(f_d(m)))]^2], "
              "Pipe(Seq(m))))");
    EXPECT_TRUE(is_multipipe(outcome.term()));
}

/// s forks to a and b; with b merges t into m. b and t route apart.
Dag forked_and_merged() {
    Dag dag;
    const std::size_t s = dag.add_vertex(source("s"));
    const std::size_t a = dag.add_vertex(sink("a"));
    const std::size_t b = dag.add_vertex(map("b", 2));
    const std::size_t t = dag.add_vertex(source("t", 2));
    const std::size_t m = dag.add_vertex(keyby(map("m", 3)));
    const std::size_t k = dag.add_vertex(sink("k"));
    dag.add_edge(s, a);
    dag.add_edge(s, b);
    dag.add_edge(b, m);
    dag.add_edge(t, m);
    dag.add_edge(m, k);
    dag.route(b, dedicated);
    dag.route(t, centralised);
    dag.route(m, combined);
    return dag;
}

TEST(Routing, OfAVertexOverrulesThatOfTheGraph) {
    const DagComposition composition = compose(forked_and_merged(), dedicated);
    ASSERT_FALSE(composition.in_grammar()) << "a closed branch beside one that merges";
    std::vector<std::string> sections;
    for (const auto& section : composition.sections) {
        sections.push_back(to_string(section.matryoshka));
    }
    EXPECT_THAT(sections, ::testing::UnorderedElementsAre(
                              "Pipe(Comb(Seq(s), Comb◂(Seq(f_s(s)), {Seq(f_d(a)), Seq(f_d(b))})))",
                              "Pipe(Seq(a))", "[Pipe(Seq(b) • Seq(f_d(m)))]^2",
                              "A2A([Pipe(Seq(t))]^2, Pipe(Seq(f_d(m))))",
                              "A2A([Pipe(Comb(Seq(m), Seq(f_d(k))))]^3, Pipe(Seq(k)))"));
}

}  // namespace
}  // namespace strid::block
