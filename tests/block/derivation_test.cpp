// SPDX-License-Identifier: Apache-2.0
//
// The output of explain(), word for word, for word count under the paper's rules.
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/engine/block/derivation.hpp>

#include "operators.hpp"

namespace strid::block {
namespace {

TEST(Derivation, ExplainsWordCount) {
    Derivation derivation;
    ParallelBlock term = derivation.record(create(testing::source("source")));
    term = derivation.record(chain(term, testing::flat_map("splitter")));
    term = derivation.record(add(term, make_operator("counter", OperatorKind::accumulator, 2)));
    term = derivation.record(add(term, testing::sink("sink", 2)));
    EXPECT_EQ(derivation.explain(),
              "1. create source x1\n"
              "   rule    create\n"
              "   after   Pipe(Seq(source))\n"
              "   blocks  1 Seq, 0 Combiners, 1 Pipe, 0 Containers, 0 All-to-Alls\n"
              "2. chain splitter x1\n"
              "   rule    chain1\n"
              "   before  Pipe(Seq(source))\n"
              "   after   Pipe(Comb(Seq(source), Seq(splitter)))\n"
              "   blocks  2 Seqs, 1 Combiner, 1 Pipe, 0 Containers, 0 All-to-Alls\n"
              "3. add counter x2\n"
              "   rule    add-shuffle\n"
              "   before  Pipe(Comb(Seq(source), Seq(splitter)))\n"
              "   after   A2A(Pipe(Comb(Comb(Seq(source), Seq(splitter)), Seq(f_d(counter)))), "
              "[Pipe(Seq(counter))]^2)\n"
              "   blocks  5 Seqs, 2 Combiners, 3 Pipes, 2 Containers, 1 All-to-All\n"
              "4. add sink x2\n"
              "   rule    add-direct\n"
              "   before  A2A(Pipe(Comb(Comb(Seq(source), Seq(splitter)), Seq(f_d(counter)))), "
              "[Pipe(Seq(counter))]^2)\n"
              "   after   A2A(Pipe(Comb(Comb(Seq(source), Seq(splitter)), Seq(f_d(counter)))), "
              "[Pipe(Seq(counter) • Seq(sink))]^2)\n"
              "   blocks  7 Seqs, 2 Combiners, 3 Pipes, 2 Containers, 1 All-to-All\n");
    EXPECT_EQ(derivation.steps().size(), 4u);
}

TEST(Derivation, ExplainsStepsWithoutEffect) {
    Derivation derivation;
    ParallelBlock term = derivation.record(create(testing::source("s")));
    term = derivation.record(add(term, testing::sink("k")));
    (void)derivation.record(split(term, term, {testing::map("a"), testing::map("b")}));
    EXPECT_EQ(derivation.steps().back().rules, std::vector<Rule>{Rule::split_no_effect});
    EXPECT_NE(derivation.explain().find("   after   unchanged\n"), std::string::npos);
}

TEST(Derivation, PathOfRulesIsOutermostFirst) {
    Derivation derivation;
    ParallelBlock term = derivation.record(create(testing::source("s")));
    term = derivation.record(split(term, term, {testing::map("a"), testing::map("b")}));
    const ParallelBlock branch = create(testing::map("a")).term();
    (void)derivation.record(split(term, branch, {testing::map("x"), testing::map("y")}));
    EXPECT_NE(derivation.explain(Notation::ascii).find("   rule    split2 > split3\n"),
              std::string::npos);
}

TEST(Derivation, RefusalIsAnErrorWithItsReason) {
    Derivation derivation;
    try {
        derivation.record(create(testing::source("s", 0)));
        FAIL() << "a refusal was recorded";
    } catch (const GraphError& error) {
        EXPECT_STREQ(error.what(), "an operator needs at least one replica");
    }
    EXPECT_TRUE(derivation.steps().empty());
}

}  // namespace
}  // namespace strid::block
