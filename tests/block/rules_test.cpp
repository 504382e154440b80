// SPDX-License-Identifier: Apache-2.0
//
// Every rule of paper 2's figures 5, 6, 7, 9 and 10 on the figures' own examples, written out by
// hand as terms, and every side condition that makes a rule refuse or leave the term as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/engine/block/grammar.hpp>
#include <strid/engine/block/rules.hpp>
#include <strid/engine/block/utility.hpp>

#include "operators.hpp"

namespace strid::block {
namespace {

using ::testing::ElementsAre;
using testing::filter;
using testing::keyby;
using testing::map;
using testing::sink;
using testing::source;

ParallelBlock begin(const OperatorDescriptor& descriptor) {
    return create(descriptor).term();
}

SequentialBlock logic(const OperatorDescriptor& descriptor) {
    return seq(logic_of(descriptor));
}

// The rightmost Matryoshka that ends in the operator.
ParallelBlock end(const ParallelBlock& term, const std::string& name) {
    return MultiPipe::view(term)->rightmost_named(name).value();
}

// source -> three branches a, b, c
ParallelBlock forked() {
    const ParallelBlock start = begin(source("s"));
    return split(start, start, {map("a"), map("b"), map("c")}).term();
}

TEST(UtilityFunctions, FigureFive) {
    const SequentialBlock z = logic(map("z"));
    const ParallelBlock left = pipe({logic(map("l"))});
    const ParallelBlock right =
        container({pipe({logic(map("p")), logic(map("q"))}), pipe({logic(map("r"))})});
    EXPECT_EQ(to_string(combine_with_last(all_to_all(left, right), z)),
              "A2A(Pipe(Seq(l)), [Pipe(Seq(p) • Comb(Seq(q), Seq(z))), "
              "Pipe(Comb(Seq(r), Seq(z)))])");
    EXPECT_EQ(to_string(pipe_with_last(all_to_all(left, right), z)),
              "A2A(Pipe(Seq(l)), [Pipe(Seq(p) • Seq(q) • Seq(z)), Pipe(Seq(r) • Seq(z))])");
}

TEST(UtilityFunctions, FigureSix) {
    const ParallelBlock one = begin(source("s", 2));
    const ParallelBlock two = *replace_seed(one, begin(map("m", 3)));
    const ParallelBlock three = *replace_seed(two, begin(sink("k", 4)));
    EXPECT_EQ(to_string(three), "A2A([Pipe(Seq(s))]^2, A2A([Pipe(Seq(m))]^3, [Pipe(Seq(k))]^4))");
    EXPECT_EQ(out_card(one), 2u);
    EXPECT_EQ(out_card(three), 4u);
    EXPECT_EQ(last_operator(one), OperatorKind::source);
    EXPECT_EQ(last_operator(three), OperatorKind::sink);
    const ParallelBlock chained = chain(one, filter("f", 2)).term();
    EXPECT_EQ(last_operator(chained), OperatorKind::filter);
    // Neither a seed of different pipes nor a seed of dolls is a seed.
    const ParallelBlock mixed = container({begin(map("x")), begin(map("y"))});
    EXPECT_EQ(replace_seed(one, mixed), std::nullopt);
    EXPECT_EQ(replace_seed(one, two), std::nullopt);
    EXPECT_EQ(replace_seed(mixed, one), std::nullopt);
    EXPECT_EQ(out_card(mixed), std::nullopt);
    // A routed Matryoshka has no last operator.
    EXPECT_EQ(last_operator(combine_with_last(one, seq(distribution_of(map("x"))))), std::nullopt);
}

TEST(Create, MakesASeedOfReplicas) {
    const RuleOutcome outcome = create(source("s", 2));
    EXPECT_EQ(to_string(outcome.term()), "[Pipe(Seq(s))]^2");
    EXPECT_THAT(outcome.transition().rules, ElementsAre(Rule::create));
    EXPECT_TRUE(create(map("m")));
    EXPECT_EQ(create(source("s", 0)).refusal(), Refusal::no_replicas);
    OperatorDescriptor wrong = source("s");
    wrong.distribution = DistributionKind::keyby;
    EXPECT_EQ(create(wrong).refusal(), Refusal::inadmissible);
}

TEST(Add, FigureSeven) {
    const ParallelBlock start = begin(source("src", 2));
    const RuleOutcome direct = add(start, map("op1", 2));
    EXPECT_EQ(to_string(direct.term()), "[Pipe(Seq(src) • Seq(op1))]^2");
    EXPECT_THAT(direct.transition().rules, ElementsAre(Rule::add_direct));

    const std::string shuffled =
        "A2A([Pipe(Seq(src) • Comb(Seq(op1), Seq(f_d(op2))))]^2, [Pipe(Seq(op2))]^2)";
    const RuleOutcome by_key = add(direct.term(), keyby(map("op2", 2)));
    EXPECT_EQ(to_string(by_key.term()), shuffled);
    EXPECT_THAT(by_key.transition().rules, ElementsAre(Rule::add_shuffle));

    const RuleOutcome by_number = add(direct.term(), map("op2", 3));
    EXPECT_THAT(by_number.transition().rules, ElementsAre(Rule::add_shuffle));
    EXPECT_EQ(out_card(by_number.term()), 3u);
}

TEST(Chain, FigureSeven) {
    const ParallelBlock start = begin(source("src", 2));
    const RuleOutcome fused = chain(start, map("op1", 2));
    EXPECT_EQ(to_string(fused.term()), "[Pipe(Comb(Seq(src), Seq(op1)))]^2");
    EXPECT_THAT(fused.transition().rules, ElementsAre(Rule::chain_1));

    const RuleOutcome by_key = chain(start, keyby(map("op1", 2)));
    EXPECT_THAT(by_key.transition().rules, ElementsAre(Rule::chain_2, Rule::add_shuffle));
    EXPECT_EQ(by_key.term(), add(start, keyby(map("op1", 2))).term());
}

TEST(Add, RefusesWhatHasNoRule) {
    const ParallelBlock start = begin(source("s"));
    const ParallelBlock closed = add(start, sink("k")).term();
    EXPECT_EQ(add(closed, map("m")).refusal(), Refusal::closed);
    EXPECT_EQ(chain(closed, map("m")).refusal(), Refusal::closed);
    EXPECT_EQ(chain(chain(start, sink("k")).term(), map("m")).refusal(), Refusal::closed);
    EXPECT_EQ(add(start, source("t")).refusal(), Refusal::source_inside);
    EXPECT_EQ(add(start, map("s")).refusal(), Refusal::duplicate_name);
    EXPECT_EQ(add(start, map("m", 0)).refusal(), Refusal::no_replicas);
    EXPECT_EQ(add(forked(), map("m")).refusal(), Refusal::not_a_matryoshka);
    EXPECT_EQ(add(combine_with_last(start, seq(distribution_of(map("x")))), map("m")).refusal(),
              Refusal::already_routed);
    OperatorDescriptor wrong = make_operator("a", OperatorKind::accumulator);
    wrong.distribution = DistributionKind::forward;
    EXPECT_EQ(add(start, wrong).refusal(), Refusal::inadmissible);
}

TEST(AddShuffle, CompositionsOfFigureSeventeen) {
    // Spike detection with two replicas of the source and of the average.
    const ParallelBlock start = begin(source("src", 2));
    const OperatorDescriptor average = keyby(map("avg", 3));
    EXPECT_EQ(to_string(add(start, average, ShuffleComposition::combined).term()),
              "A2A([Pipe(Comb(Seq(src), Seq(f_d(avg))))]^2, [Pipe(Seq(avg))]^3)");
    EXPECT_EQ(to_string(add(start, average, ShuffleComposition::dedicated).term()),
              "A2A([Pipe(Seq(src) • Seq(f_d(avg)))]^2, [Pipe(Seq(avg))]^3)");
    EXPECT_EQ(to_string(add(start, average, ShuffleComposition::centralised).term()),
              "A2A([Pipe(Seq(src))]^2, A2A(Pipe(Seq(f_d(avg))), [Pipe(Seq(avg))]^3))");
    // One replica before: its dedicated distributor is the only one, so the two agree.
    const ParallelBlock lone = begin(source("src"));
    EXPECT_EQ(add(lone, average, ShuffleComposition::centralised).term(),
              add(lone, average, ShuffleComposition::dedicated).term());
    for (const ShuffleComposition composition :
         {ShuffleComposition::combined, ShuffleComposition::dedicated,
          ShuffleComposition::centralised}) {
        EXPECT_TRUE(is_matryoshka(add(start, average, composition).term()));
    }
}

TEST(Split, FigureNine) {
    const ParallelBlock start = begin(map("op", 2));
    const RuleOutcome outcome = split(start, start, {map("op1", 2), keyby(map("op2", 2))});
    EXPECT_EQ(to_string(outcome.term()),
              "A2A([Pipe(Comb(Seq(op), Comb◂(Seq(f_s(op)), {Seq(f_d(op1)), Seq(f_d(op2))})))]^2, "
              "[[Pipe(Seq(op1))]^2, [Pipe(Seq(op2))]^2])");
    EXPECT_THAT(outcome.transition().rules, ElementsAre(Rule::split_3));
    EXPECT_TRUE(is_multipipe(outcome.term()));
    EXPECT_FALSE(is_matryoshka(outcome.term()));
}

TEST(Split, DescendsTheRightHandSides) {
    const RuleOutcome inner = split(forked(), end(forked(), "b"), {map("x"), map("y")});
    EXPECT_THAT(inner.transition().rules, ElementsAre(Rule::split_2, Rule::split_3));
    EXPECT_EQ(
        to_string(inner.term()),
        "A2A(Pipe(Comb(Seq(s), Comb◂(Seq(f_s(s)), {Seq(f_d(a)), Seq(f_d(b)), Seq(f_d(c))}))), "
        "[Pipe(Seq(a)), A2A(Pipe(Comb(Seq(b), Comb◂(Seq(f_s(b)), {Seq(f_d(x)), "
        "Seq(f_d(y))}))), [Pipe(Seq(x)), Pipe(Seq(y))]), Pipe(Seq(c))])");

    const ParallelBlock merged =
        merge_independent({begin(source("s1")), begin(source("s2"))}, map("m")).term();
    const RuleOutcome after = split(merged, end(merged, "m"), {map("x"), map("y")});
    EXPECT_THAT(after.transition().rules, ElementsAre(Rule::split_1, Rule::split_3));
    EXPECT_TRUE(is_multipipe(after.term()));
}

TEST(Split, HasNoEffectOnClosedOrInnerMatryoshkas) {
    const std::vector<OperatorDescriptor> branches{map("x"), map("y")};
    const ParallelBlock closed = add(begin(source("s")), sink("k")).term();
    const RuleOutcome on_closed = split(closed, closed, branches);
    EXPECT_THAT(on_closed.transition().rules, ElementsAre(Rule::split_no_effect));
    EXPECT_FALSE(on_closed.transition().changed());

    const RuleOutcome on_inner = split(forked(), begin(source("s")), branches);
    EXPECT_THAT(on_inner.transition().rules, ElementsAre(Rule::split_no_effect));
    EXPECT_EQ(on_inner.term(), forked());
}

TEST(Split, RefusesWhatHasNoRule) {
    const ParallelBlock start = begin(source("s"));
    EXPECT_EQ(split(start, start, {map("x")}).refusal(), Refusal::too_few_branches);
    EXPECT_EQ(split(start, start, {map("x"), map("x")}).refusal(), Refusal::duplicate_name);
    EXPECT_EQ(split(start, start, {map("x"), source("y")}).refusal(), Refusal::source_inside);
    EXPECT_EQ(split(start, forked(), {map("x"), map("y")}).refusal(), Refusal::not_a_matryoshka);
    EXPECT_EQ(split(container({forked(), start}), start, {map("x"), map("y")}).refusal(),
              Refusal::not_a_multipipe);
}

TEST(Merge, IndependentMultiPipes) {
    const RuleOutcome outcome =
        merge_independent({forked(), begin(source("t", 2))}, keyby(map("op", 2)));
    EXPECT_EQ(to_string(outcome.term()),
              "A2A([A2A(Pipe(Comb(Seq(s), Comb◂(Seq(f_s(s)), {Seq(f_d(a)), Seq(f_d(b)), "
              "Seq(f_d(c))}))), [Pipe(Comb(Seq(a), Seq(f_d(op)))), Pipe(Comb(Seq(b), "
              "Seq(f_d(op)))), Pipe(Comb(Seq(c), Seq(f_d(op))))]), "
              "[Pipe(Comb(Seq(t), Seq(f_d(op))))]^2], [Pipe(Seq(op))]^2)");
    EXPECT_THAT(outcome.transition().rules, ElementsAre(Rule::merge_independent));
    EXPECT_TRUE(is_multipipe(outcome.term()));
    EXPECT_THAT(MultiPipe::view(outcome.term())->rightmost(),
                ElementsAre(begin(keyby(map("op", 2)))));
}

TEST(Merge, IndependentRefusesSinks) {
    const ParallelBlock closed = add(begin(source("t")), sink("k")).term();
    EXPECT_EQ(merge_independent({begin(source("s")), closed}, map("m")).refusal(), Refusal::closed);
    const ParallelBlock half = add_in(forked(), end(forked(), "b"), sink("k")).term();
    EXPECT_FALSE(MultiPipe::view(half)->no_sink());
    EXPECT_EQ(merge_independent({half, begin(source("t"))}, map("m")).refusal(), Refusal::closed);
    EXPECT_EQ(merge_independent({begin(source("s"))}, map("m")).refusal(),
              Refusal::too_few_to_merge);
    EXPECT_EQ(merge_independent({begin(source("s")), begin(source("s"))}, map("m")).refusal(),
              Refusal::duplicate_name);
}

TEST(Merge, SomeSiblings) {
    const RuleOutcome outcome =
        merge(forked(), {end(forked(), "b"), end(forked(), "c")}, map("op"));
    EXPECT_THAT(outcome.transition().rules, ElementsAre(Rule::merge_4));
    EXPECT_EQ(
        to_string(outcome.term()),
        "A2A(Pipe(Comb(Seq(s), Comb◂(Seq(f_s(s)), {Seq(f_d(a)), Seq(f_d(b)), Seq(f_d(c))}))), "
        "[Pipe(Seq(a)), A2A([Pipe(Comb(Seq(b), Seq(f_d(op)))), Pipe(Comb(Seq(c), "
        "Seq(f_d(op))))], Pipe(Seq(op)))])");
    EXPECT_TRUE(is_multipipe(outcome.term()));
}

TEST(Merge, AllSiblings) {
    const RuleOutcome outcome =
        merge(forked(), {end(forked(), "a"), end(forked(), "b"), end(forked(), "c")}, map("op"));
    EXPECT_THAT(outcome.transition().rules, ElementsAre(Rule::merge_4));
    EXPECT_EQ(counts(outcome.term()), (BlockCounts{12, 5, 5, 4, 2}));
    EXPECT_TRUE(is_multipipe(outcome.term()));
    EXPECT_THAT(MultiPipe::view(outcome.term())->rightmost(), ElementsAre(begin(map("op"))));
}

TEST(Merge, WholeBranchThatWasSplitAgain) {
    const ParallelBlock term = split(forked(), end(forked(), "b"), {map("x"), map("y")}).term();
    // x and y alone are siblings of the inner split: merge2 finds them.
    const RuleOutcome inner = merge(term, {end(term, "x"), end(term, "y")}, map("op"));
    EXPECT_THAT(inner.transition().rules, ElementsAre(Rule::merge_2, Rule::merge_4));
    // All of the second branch with the third: siblings of the outer split.
    const RuleOutcome outer =
        merge(term, {end(term, "c"), end(term, "y"), end(term, "x")}, map("op"));
    EXPECT_THAT(outer.transition().rules, ElementsAre(Rule::merge_4));
    EXPECT_TRUE(is_multipipe(outer.term()));
    // The paper does not cover a part of the second branch with the third.
    const RuleOutcome crossing = merge(term, {end(term, "c"), end(term, "y")}, map("op"));
    EXPECT_THAT(crossing.transition().rules, ElementsAre(Rule::merge_3));
    EXPECT_EQ(crossing.term(), term);
}

TEST(Merge, BehindAMergeDescendsByMergeOne) {
    const ParallelBlock merged =
        merge_independent({begin(source("s1")), begin(source("s2"))}, map("m")).term();
    const ParallelBlock term = split(merged, end(merged, "m"), {map("x"), map("y")}).term();
    const RuleOutcome outcome = merge(term, {end(term, "x"), end(term, "y")}, map("op"));
    EXPECT_THAT(outcome.transition().rules, ElementsAre(Rule::merge_1, Rule::merge_4));
    EXPECT_TRUE(is_multipipe(outcome.term()));
}

TEST(Merge, NoEffectAndRefusals) {
    const ParallelBlock elsewhere = begin(source("t"));
    const RuleOutcome none = merge(forked(), {elsewhere, begin(map("u"))}, map("op"));
    EXPECT_THAT(none.transition().rules, ElementsAre(Rule::merge_no_effect));
    EXPECT_FALSE(none.transition().changed());
    EXPECT_EQ(merge(forked(), {end(forked(), "a"), elsewhere}, map("op")).refusal(),
              Refusal::not_rightmost);
    EXPECT_EQ(merge(forked(), {end(forked(), "a"), end(forked(), "a")}, map("op")).refusal(),
              Refusal::too_few_to_merge);
    const ParallelBlock half = add_in(forked(), end(forked(), "b"), sink("k")).term();
    EXPECT_EQ(merge(half, {end(half, "a"), end(half, "k")}, map("op")).refusal(), Refusal::closed);
    EXPECT_EQ(merge(forked(), {end(forked(), "a"), end(forked(), "b")}, map("s")).refusal(),
              Refusal::duplicate_name);
}

TEST(AddIn, ChangesOneBranchOnly) {
    const RuleOutcome outcome = add_in(forked(), end(forked(), "b"), map("x"));
    EXPECT_THAT(outcome.transition().rules, ElementsAre(Rule::in_branch, Rule::add_direct));
    const std::vector<ParallelBlock> ends = MultiPipe::view(outcome.term())->rightmost();
    EXPECT_EQ(to_string(ends.at(0)), "Pipe(Seq(a))");
    EXPECT_EQ(to_string(ends.at(1)), "Pipe(Seq(b) • Seq(x))");
    EXPECT_EQ(to_string(ends.at(2)), "Pipe(Seq(c))");
    EXPECT_EQ(add_in(forked(), begin(map("q")), map("x")).refusal(), Refusal::not_rightmost);
    EXPECT_EQ(add_in(forked(), end(forked(), "b"), map("s")).refusal(), Refusal::duplicate_name);
}

// Figure 3 of the paper: two sources, merged, split into two branches, two replicas everywhere.
TEST(MultiPipes, FigureThree) {
    ParallelBlock first = begin(source("SRC1", 2));
    first = add(first, map("OP1", 2)).term();
    first = add(first, keyby(map("OP2", 2))).term();
    ParallelBlock second = begin(source("SRC2", 2));
    second = add(second, map("OP3", 2)).term();
    ParallelBlock whole = merge_independent({first, second}, keyby(map("OP4", 2))).term();
    whole = split(whole, end(whole, "OP4"), {map("OP5", 2), sink("SNK2", 2)}).term();
    whole = add_in(whole, end(whole, "OP5"), sink("SNK1", 2)).term();
    EXPECT_EQ(
        to_string(whole),
        "A2A([A2A([Pipe(Seq(SRC1) • Comb(Seq(OP1), Seq(f_d(OP2))))]^2, "
        "[Pipe(Comb(Seq(OP2), Seq(f_d(OP4))))]^2), "
        "[Pipe(Seq(SRC2) • Comb(Seq(OP3), Seq(f_d(OP4))))]^2], "
        "A2A([Pipe(Comb(Seq(OP4), Comb◂(Seq(f_s(OP4)), {Seq(f_d(OP5)), Seq(f_d(SNK2))})))]^2, "
        "[[Pipe(Seq(OP5) • Seq(SNK1))]^2, [Pipe(Seq(SNK2))]^2]))");
    EXPECT_TRUE(is_multipipe(whole));
    EXPECT_EQ(MultiPipe::view(whole)->rightmost().size(), 2u);
}

TEST(Grammar, RejectsWhatItDoesNotGenerate) {
    const ParallelBlock a = begin(map("a"));
    const ParallelBlock b = begin(map("b"));
    EXPECT_FALSE(is_matryoshka(container({a, b})));
    EXPECT_FALSE(is_multipipe(container({a, b})));
    // Two by two Matryoshkas, fully connected: the paper leaves this graph to future work.
    const ParallelBlock full =
        all_to_all(container({a, b}), container({begin(map("c")), begin(map("d"))}));
    EXPECT_FALSE(is_multipipe(full));
    EXPECT_FALSE(Matryoshka::view(full).has_value());
    EXPECT_FALSE(MultiPipe::view(full).has_value());
    // A doll may only be nested on the right.
    EXPECT_FALSE(is_matryoshka(all_to_all(all_to_all(a, b), begin(map("c")))));
}

}  // namespace
}  // namespace strid::block
