// SPDX-License-Identifier: Apache-2.0
//
// The terms as values: construction, equality, printing, counting (paper 2, table 2).
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/engine/block/parallel_block.hpp>

#include "operators.hpp"

namespace strid::block {
namespace {

SequentialBlock logic(const std::string& name) {
    return seq(logic_of(testing::map(name)));
}

TEST(Terms, PrintInThePapersNotation) {
    const SequentialBlock router = fan_out(seq(splitting_after("a")), {logic("b"), logic("c")});
    const ParallelBlock term =
        all_to_all(pipe({logic("s"), comb(logic("a"), router)}),
                   container({replicate(pipe({logic("d")}), 3), pipe({logic("e")})}));
    EXPECT_EQ(to_string(term),
              "A2A(Pipe(Seq(s) • Comb(Seq(a), Comb◂(Seq(f_s(a)), {Seq(b), Seq(c)}))), "
              "[[Pipe(Seq(d))]^3, Pipe(Seq(e))])");
    EXPECT_EQ(to_string(term, Notation::ascii),
              "A2A(Pipe(Seq(s) * Comb(Seq(a), Comb<(Seq(f_s(a)), {Seq(b), Seq(c)}))), "
              "[[Pipe(Seq(d))]^3, Pipe(Seq(e))])");
}

TEST(Terms, EqualWhenBuiltAlikeAndNotOtherwise) {
    const auto build = [](const std::string& name) {
        return all_to_all(pipe({logic("s")}), replicate(pipe({logic(name), logic("z")}), 2));
    };
    EXPECT_EQ(build("a"), build("a"));
    EXPECT_NE(build("a"), build("b"));
    EXPECT_NE(pipe({logic("a"), logic("b")}), pipe({comb(logic("a"), logic("b"))}));
    EXPECT_NE(seq(logic_of(testing::map("a"))), seq(distribution_of(testing::map("a"))));
    EXPECT_NE(seq(logic_of(testing::map("a"))), seq(logic_of(testing::filter("a"))));
}

TEST(Terms, ContainerOfOneIsThatBlock) {
    const ParallelBlock lone = pipe({logic("a")});
    EXPECT_EQ(container({lone}), lone);
    EXPECT_EQ(replicate(lone, 1), lone);
    EXPECT_EQ(replicate(lone, 4).elements().size(), 4u);
}

TEST(Terms, CopyOutlivesTheOriginal) {
    ParallelBlock copy = pipe({logic("a")});
    {
        const ParallelBlock original = all_to_all(pipe({logic("s")}), pipe({logic("t")}));
        copy = original.right();
    }
    EXPECT_EQ(to_string(copy), "Pipe(Seq(t))");
}

TEST(Terms, EmptyOnesAreRefused) {
    EXPECT_THROW((void)pipe({}), GraphError);
    EXPECT_THROW((void)container({}), GraphError);
    EXPECT_THROW((void)replicate(pipe({logic("a")}), 0), GraphError);
    EXPECT_THROW((void)fan_out(logic("a"), {logic("b")}), GraphError);
}

TEST(Terms, CountsEveryOccurrence) {
    const ParallelBlock replicated = replicate(pipe({logic("a"), logic("b")}), 3);
    EXPECT_EQ(counts(replicated), (BlockCounts{6, 0, 3, 1, 0}));
    // Two sides of an A2A are containers, also of one block; so are containers inside them.
    EXPECT_EQ(counts(all_to_all(pipe({logic("s")}), container({replicated, pipe({logic("c")})}))),
              (BlockCounts{8, 0, 5, 3, 1}));
    EXPECT_EQ(counts(pipe({comb(logic("a"), fan_out(logic("f"), {logic("x"), logic("y")}))})),
              (BlockCounts{4, 2, 1, 0, 0}));
    EXPECT_EQ(to_string(BlockCounts{5, 1, 2, 2, 1}),
              "5 Seqs, 1 Combiner, 2 Pipes, 2 Containers, 1 All-to-All");
}

TEST(Terms, TableOneOfThePaper) {
    using enum OperatorKind;
    using enum DistributionKind;
    EXPECT_TRUE(is_admissible(source, none));
    EXPECT_FALSE(is_admissible(source, forward));
    for (const OperatorKind kind : {sink, filter, map, flat_map}) {
        EXPECT_TRUE(is_admissible(kind, forward));
        EXPECT_TRUE(is_admissible(kind, rebalance));
        EXPECT_TRUE(is_admissible(kind, keyby));
        EXPECT_FALSE(is_admissible(kind, none));
        EXPECT_FALSE(is_admissible(kind, complex));
    }
    for (const OperatorKind kind : {accumulator, keyed_windows}) {
        EXPECT_TRUE(is_admissible(kind, keyby));
        EXPECT_FALSE(is_admissible(kind, forward));
        EXPECT_FALSE(is_admissible(kind, rebalance));
    }
    for (const OperatorKind kind : {parallel_windows, paned_windows, map_reduce_windows}) {
        EXPECT_TRUE(is_admissible(kind, complex));
        EXPECT_FALSE(is_admissible(kind, keyby));
    }
}

}  // namespace
}  // namespace strid::block
