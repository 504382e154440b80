// SPDX-License-Identifier: Apache-2.0
//
// The side conditions of figures 7, 9 and 10 on random terms. Each rule is tried on a term for
// which it has a transition, and then on the same term with one condition broken; the refusal must
// name that condition. The new seed of figure 6 is compared with its parts.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <strid/engine/block/grammar.hpp>
#include <strid/engine/block/rules.hpp>
#include <strid/engine/block/utility.hpp>

#include "operators.hpp"
#include "random_operators.hpp"

namespace strid::block {
namespace {

using testing::random_multipipe;
using testing::random_operator;

/// Every way to put an operator behind one end of a term.
std::vector<RuleOutcome> grown_by(const ParallelBlock& term, const ParallelBlock& end,
                                  const OperatorDescriptor& more) {
    std::vector<RuleOutcome> outcomes;
    for (const Attachment attachment : {Attachment::add, Attachment::chain}) {
        for (const ShuffleComposition composition :
             {ShuffleComposition::combined, ShuffleComposition::dedicated,
              ShuffleComposition::centralised}) {
            outcomes.push_back(add_in(term, end, more, attachment, composition));
        }
    }
    return outcomes;
}

/// An operator that is wrong in one way, and its refusal behind others.
struct Wrong {
    OperatorDescriptor descriptor;
    Refusal refusal;
};
Wrong random_wrong(const ParallelBlock& term) {
    OperatorDescriptor descriptor = random_operator("wrong");
    switch (*rc::gen::inRange(0, 4)) {
        case 0:
            descriptor.replicas = 0;
            return {descriptor, Refusal::no_replicas};
        case 1: {  // windows in turns see every record
            descriptor = make_operator("wrong", OperatorKind::parallel_windows);
            std::vector<DistributionKind> refused;
            for (const auto kind : {DistributionKind::forward, DistributionKind::rebalance,
                                    DistributionKind::keyby, DistributionKind::broadcast}) {
                if (!is_admissible(descriptor.kind, kind)) refused.push_back(kind);
            }
            descriptor.distribution = *rc::gen::elementOf(refused);
            return {descriptor, Refusal::inadmissible};
        }
        case 2:
            return {testing::source("wrong"), Refusal::source_inside};
        default:
            descriptor.name = *rc::gen::elementOf(operator_names(term));
            return {descriptor, Refusal::duplicate_name};
    }
}

RC_GTEST_PROP(RefusalProperties, GrowthNamesTheConditionThatIsBroken, ()) {
    int number = 0;
    const ParallelBlock term = random_multipipe(number);
    const ParallelBlock end = *rc::gen::elementOf(MultiPipe::view(term)->rightmost());
    for (const RuleOutcome& outcome : grown_by(term, end, random_operator("right"))) {
        RC_ASSERT(bool(outcome));
    }
    const Wrong wrong = random_wrong(term);
    for (const RuleOutcome& outcome : grown_by(term, end, wrong.descriptor)) {
        RC_ASSERT(!outcome);
        RC_ASSERT(outcome.refusal() == wrong.refusal);
    }
    // An end of another term is not an end of this one.
    const ParallelBlock stranger = create(random_operator("stranger")).term();
    for (const RuleOutcome& outcome : grown_by(term, stranger, random_operator("right"))) {
        RC_ASSERT(!outcome);
        RC_ASSERT(outcome.refusal() == Refusal::not_rightmost);
    }
    // A Matryoshka that was split or merged is no longer the last of its branch.
    const auto split_term = split(term, end, {testing::map("one"), testing::map("two")}).term();
    for (const RuleOutcome& outcome : grown_by(split_term, end, random_operator("right"))) {
        RC_ASSERT(!outcome);
        RC_ASSERT(outcome.refusal() == Refusal::not_rightmost);
    }
    // The same alone, as a term that ends in its distribution.
    const auto routed = combine_with_last(end, seq(distribution_of(random_operator("next"))));
    RC_ASSERT(add(routed, random_operator("right")).refusal() == Refusal::already_routed);
    RC_ASSERT(chain(routed, random_operator("right")).refusal() == Refusal::already_routed);
}

RC_GTEST_PROP(RefusalProperties, CreationNamesTheConditionThatIsBroken, ()) {
    const ParallelBlock term = create(random_operator("other")).term();
    const Wrong wrong = random_wrong(term);
    const RuleOutcome outcome = create(wrong.descriptor);
    // At the beginning of a term there is no operator before a source, and no other name.
    const bool is_wrong_alone =
        wrong.refusal == Refusal::no_replicas || wrong.refusal == Refusal::inadmissible;
    RC_ASSERT(bool(outcome) == !is_wrong_alone);
    if (is_wrong_alone) RC_ASSERT(outcome.refusal() == wrong.refusal);
}

RC_GTEST_PROP(RefusalProperties, SplitsNameTheConditionThatIsBroken, ()) {
    int number = 0;
    const ParallelBlock term = random_multipipe(number);
    const ParallelBlock end = *rc::gen::elementOf(MultiPipe::view(term)->rightmost());
    std::vector<OperatorDescriptor> branches;
    const auto count = *rc::gen::inRange<std::size_t>(2, 5);
    for (std::size_t i = 0; i < count; ++i) {
        branches.push_back(random_operator(fmt::format("branch{}", i)));
    }
    RC_ASSERT(bool(split(term, end, branches)));
    RC_ASSERT(split(term, end, {}).refusal() == Refusal::too_few_branches);
    RC_ASSERT(split(term, end, {branches.front()}).refusal() == Refusal::too_few_branches);
    const auto twice = [&] {
        auto again = branches;
        again.back().name = again.front().name;
        return again;
    }();
    RC_ASSERT(split(term, end, twice).refusal() == Refusal::duplicate_name);
    const Wrong wrong = random_wrong(term);
    branches[*rc::gen::inRange<std::size_t>(0, count)] = wrong.descriptor;
    RC_ASSERT(split(term, end, branches).refusal() == wrong.refusal);
}

RC_GTEST_PROP(RefusalProperties, MergesNameTheConditionThatIsBroken, ()) {
    int number = 0;
    const ParallelBlock begun = random_multipipe(number);
    const ParallelBlock end = *rc::gen::elementOf(MultiPipe::view(begun)->rightmost());
    const ParallelBlock term = split(begun, end, {testing::map("one"), testing::map("two")}).term();
    const auto ends = MultiPipe::view(term)->rightmost();
    const std::vector<ParallelBlock> siblings{create(testing::map("one")).term(),
                                              create(testing::map("two")).term()};
    const OperatorDescriptor right = random_operator("right");
    RC_ASSERT(bool(merge(term, siblings, right)));
    const ParallelBlock& one = *rc::gen::elementOf(ends);
    RC_ASSERT(merge(term, {one}, right).refusal() == Refusal::too_few_to_merge);
    RC_ASSERT(merge(term, {one, one}, right).refusal() == Refusal::too_few_to_merge);
    const ParallelBlock stranger = create(random_operator("stranger")).term();
    RC_ASSERT(merge(term, {one, stranger}, right).refusal() == Refusal::not_rightmost);
    const Wrong wrong = random_wrong(term);
    RC_ASSERT(merge(term, siblings, wrong.descriptor).refusal() == wrong.refusal);

    RC_ASSERT(bool(merge_independent({term, stranger}, right)));
    RC_ASSERT(merge_independent({term}, right).refusal() == Refusal::too_few_to_merge);
    RC_ASSERT(merge_independent({term, stranger}, wrong.descriptor).refusal() == wrong.refusal);
    RC_ASSERT(merge_independent({term, term}, right).refusal() == Refusal::duplicate_name);
    const auto routed = combine_with_last(stranger, seq(distribution_of(random_operator("next"))));
    RC_ASSERT(merge_independent({term, routed}, right).refusal() == Refusal::already_routed);
}

// Figure 6: M <> [Phi]^n. M is before the new seed, which then counts.
RC_GTEST_PROP(RuleProperties, FigureSixPutsANewSeedInside, ()) {
    ParallelBlock matryoshka = create(random_operator("op0")).term();
    const auto length = *rc::gen::inRange(0, 4);
    for (int i = 1; i <= length; ++i) {
        matryoshka = add(matryoshka, random_operator(fmt::format("op{}", i))).term();
    }
    const OperatorDescriptor next = random_operator("next");
    const ParallelBlock seed = create(next).term();
    const auto placed = replace_seed(matryoshka, seed);
    RC_ASSERT(placed.has_value());
    RC_ASSERT(is_matryoshka(*placed));
    RC_ASSERT(out_card(*placed) == next.replicas);
    RC_ASSERT(last_operator(*placed) == next.kind);
    auto names = operator_names(matryoshka);
    names.push_back("next");
    RC_ASSERT(operator_names(*placed) == names);
    RC_ASSERT(placed->kind() == ParallelBlock::Kind::all_to_all);
    // Not a Matryoshka, or not a seed: nothing.
    const auto split_term =
        split(matryoshka, matryoshka, {testing::map("one"), testing::map("two")}).term();
    RC_ASSERT(!replace_seed(split_term, seed).has_value());
    RC_ASSERT(!replace_seed(matryoshka, split_term).has_value());
}

}  // namespace
}  // namespace strid::block
