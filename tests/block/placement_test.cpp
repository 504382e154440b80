// SPDX-License-Identifier: Apache-2.0
//
// The placement order of paper 2, section 4.4, on terms small enough to write the visit down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/engine/block/dag.hpp>
#include <strid/engine/block/node_order.hpp>
#include <strid/engine/block/rules.hpp>

#include "operators.hpp"

namespace strid::block {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;

std::vector<std::string> names(const std::vector<PlacedNode>& order) {
    std::vector<std::string> texts;
    for (const PlacedNode& node : order) {
        texts.push_back(node.block.functions().front().operator_name +
                        std::to_string(node.replica));
    }
    return texts;
}

TEST(Placement, PipesFromTheLeft) {
    const ParallelBlock start = create(testing::source("s", 2)).term();
    EXPECT_THAT(names(placement_order(add(start, testing::map("m", 2)).term())),
                ElementsAre("s0", "m0", "s1", "m1"));
}

TEST(Placement, AllToAllInterleaved) {
    const ParallelBlock start = create(testing::source("s", 2)).term();
    EXPECT_THAT(names(placement_order(add(start, testing::map("m", 3)).term())),
                ElementsAre("s0", "m0", "s1", "m1", "m2"));
    EXPECT_THAT(names(placement_order(add(start, testing::map("m", 1)).term())),
                ElementsAre("s0", "m0", "s1"));
}

TEST(Placement, DollsRowByRow) {
    ParallelBlock term = create(testing::source("s", 2)).term();
    term = add(term, testing::keyby(testing::map("a", 2))).term();
    term = add(term, testing::keyby(testing::map("b", 2))).term();
    EXPECT_THAT(names(placement_order(term)), ElementsAre("s0", "a0", "b0", "s1", "a1", "b1"));
}

TEST(Placement, BranchesOneAfterAnother) {
    Dag dag;
    const std::size_t s = dag.add_vertex(testing::source("s"));
    const std::size_t a = dag.add_vertex(testing::map("a"));
    const std::size_t b = dag.add_vertex(testing::map("b"));
    const std::size_t c = dag.add_vertex(testing::map("c"));
    dag.add_edge(s, a);
    dag.add_edge(s, b);
    dag.add_edge(a, c);
    EXPECT_THAT(names(placement_order(compose(dag))), ElementsAre("s0", "a0", "c0", "b0"));
}

TEST(Placement, CombinedOperatorsAreOneNode) {
    const ParallelBlock start = create(testing::source("s")).term();
    EXPECT_EQ(placement_order(chain(start, testing::map("m")).term()).size(), 1u);
    EXPECT_EQ(
        placement_order(add(start, testing::map("m", 2), ShuffleComposition::dedicated).term())
            .size(),
        4u);
}

TEST(Placement, GeneralFormVisitsEverySection) {
    Dag dag;
    for (const char* name : {"s1", "s2"}) dag.add_vertex(testing::source(name));
    for (const char* name : {"k1", "k2"}) dag.add_vertex(testing::sink(name, 2));
    for (std::size_t from : {0u, 1u}) {
        for (std::size_t to : {2u, 3u}) dag.add_edge(from, to);
    }
    EXPECT_THAT(names(placement_order(compose(dag))),
                UnorderedElementsAreArray({"s10", "s20", "k10", "k11", "k20", "k21"}));
}

}  // namespace
}  // namespace strid::block
