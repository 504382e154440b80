// SPDX-License-Identifier: Apache-2.0
//
// Figures 9 and 10 on random terms: the results of split and merge, against the whole term that the
// rule prescribes, which the test builds.
#include <bit>
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

using testing::grown;
using testing::random_multipipe;
using testing::random_operator;

/// The term with one Matryoshka replaced by another, wherever it is; names are unique.
ParallelBlock replaced(const ParallelBlock& term, const ParallelBlock& old,
                       const ParallelBlock& fresh) {
    if (term == old) return fresh;
    if (term.kind() == ParallelBlock::Kind::pipe) return term;
    if (term.kind() == ParallelBlock::Kind::all_to_all) {
        return all_to_all(replaced(term.left(), old, fresh), replaced(term.right(), old, fresh));
    }
    std::vector<ParallelBlock> parts = term.elements();
    for (ParallelBlock& part : parts) part = replaced(part, old, fresh);
    return container(parts);
}

// Figure 9: the split one ends in the fan-out of its splitting function and the branches'
// distributions, and stands before the new branches; nothing else changes.
RC_GTEST_PROP(RuleProperties, SplitsInsertTheirRouters, ()) {
    int number = 0;
    const ParallelBlock term = random_multipipe(number);
    const ParallelBlock end = *rc::gen::elementOf(MultiPipe::view(term)->rightmost());
    const auto count = *rc::gen::inRange(2, 5);
    std::vector<OperatorDescriptor> branches;
    std::vector<SequentialBlock> distributions;
    std::vector<ParallelBlock> created;
    for (int i = 0; i < count; ++i) {
        branches.push_back(random_operator(fmt::format("branch{}", i)));
        distributions.push_back(seq(distribution_of(branches.back())));
        created.push_back(create(branches.back()).term());
    }
    const SequentialBlock router =
        fan_out(seq(splitting_after(operator_names(end).back())), distributions);
    const ParallelBlock expected =
        replaced(term, end, all_to_all(combine_with_last(end, router), container(created)));
    const RuleOutcome outcome = split(term, end, branches);
    RC_ASSERT(bool(outcome));
    RC_ASSERT(outcome.transition().rules.back() == Rule::split_3);
    RC_ASSERT(outcome.term() == expected);
    // A Matryoshka that is no end has been split: splitting it again has no effect.
    const RuleOutcome again =
        split(outcome.term(), end, {testing::map("again0"), testing::map("again1")});
    RC_ASSERT(again.transition().rules.back() == Rule::split_no_effect);
    RC_ASSERT(again.term() == outcome.term());
}

// Figures 9 and 10: a branch with a sink at its end takes no part.
RC_GTEST_PROP(RuleProperties, SinksCloseTheirEnds, ()) {
    int number = 0;
    const ParallelBlock open = random_multipipe(number);
    const std::vector<ParallelBlock> ends = MultiPipe::view(open)->rightmost();
    const ParallelBlock end = *rc::gen::elementOf(ends);
    const ParallelBlock closed_end = add(end, testing::sink("sink")).term();
    const RuleOutcome outcome = add_in(open, end, testing::sink("sink"));
    RC_ASSERT(bool(outcome));
    const ParallelBlock& term = outcome.term();
    RC_ASSERT(term == replaced(open, end, closed_end));
    RC_ASSERT(MultiPipe::view(open)->no_sink());
    RC_ASSERT(!MultiPipe::view(term)->no_sink());
    const OperatorDescriptor more = testing::map("more");
    const RuleOutcome split_of_it = split(term, closed_end, {more, testing::map("other")});
    RC_ASSERT(split_of_it.transition().rules.back() == Rule::split_no_effect);
    RC_ASSERT(split_of_it.term() == term);
    RC_ASSERT(add_in(term, closed_end, more).refusal() == Refusal::closed);
    if (ends.size() > 1) {
        const ParallelBlock other = end == ends.front() ? ends.back() : ends.front();
        RC_ASSERT(merge(term, {closed_end, other}, more).refusal() == Refusal::closed);
    }
    const ParallelBlock separate = create(testing::source("separate")).term();
    RC_ASSERT(merge_independent({separate, term}, more).refusal() == Refusal::closed);
}

// Figure 10, merge-ind: every end is combined with the distribution of the new operator. Merging
// Matryoshkas that the term does not contain has no effect.
RC_GTEST_PROP(RuleProperties, IndependentMultiPipesMerge, ()) {
    int number = 0;
    std::vector<ParallelBlock> separate;
    const int count = *rc::gen::inRange(2, 5);
    for (int i = 0; i < count; ++i) separate.push_back(random_multipipe(number));
    const OperatorDescriptor united = random_operator("united");
    const SequentialBlock router = seq(distribution_of(united));
    std::vector<ParallelBlock> routed;
    for (const ParallelBlock& term : separate) routed.push_back(combine_with_last(term, router));
    const RuleOutcome outcome = merge_independent(separate, united);
    RC_ASSERT(bool(outcome));
    RC_ASSERT(outcome.transition().rules == std::vector<Rule>{Rule::merge_independent});
    RC_ASSERT(outcome.transition().before == separate);
    RC_ASSERT(outcome.term() == all_to_all(container(routed), create(united).term()));
    RC_ASSERT(is_multipipe(outcome.term()));

    const std::vector<ParallelBlock> strangers{create(testing::source("stranger0")).term(),
                                               create(testing::source("stranger1")).term()};
    const RuleOutcome none = merge(outcome.term(), strangers, testing::map("more"));
    RC_ASSERT(none.transition().rules.back() == Rule::merge_no_effect);
    RC_ASSERT(none.term() == outcome.term());
}

// Figure 10, merge1 to merge4: whole branches of one split, anywhere in the term, are replaced by
// the new MultiPipe in which they end. It takes the place of the first of them, and nothing else
// changes. If a branch was split again, all its ends must take part, or none.
RC_GTEST_PROP(RuleProperties, SiblingsMerge, ()) {
    int number = 0;
    const ParallelBlock base = random_multipipe(number);
    const ParallelBlock end = *rc::gen::elementOf(MultiPipe::view(base)->rightmost());
    const std::size_t count = *rc::gen::inRange<std::size_t>(2, 5);
    std::vector<ParallelBlock> branches;
    std::vector<OperatorDescriptor> first;
    for (std::size_t i = 0; i < count; ++i) {
        first.push_back(random_operator(fmt::format("branch{}", i)));
        branches.push_back(grown(create(first.back()).term(), number));
    }
    std::vector<SequentialBlock> distributions;
    for (const OperatorDescriptor& one : first) distributions.push_back(seq(distribution_of(one)));
    const ParallelBlock left = combine_with_last(
        end, fan_out(seq(splitting_after(operator_names(end).back())), distributions));
    const ParallelBlock term = replaced(base, end, all_to_all(left, container(branches)));
    RC_ASSERT(is_multipipe(term));

    const unsigned mask = *rc::gen::suchThat(rc::gen::inRange(0U, 1U << count),
                                             [](unsigned bits) { return std::popcount(bits) > 1; });
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < count; ++i) {
        if ((mask >> i & 1U) != 0) chosen.push_back(i);
    }
    std::vector<ParallelBlock> ends;
    for (const std::size_t index : chosen) {
        for (auto& one : MultiPipe::view(branches[index])->rightmost()) ends.push_back(one);
    }
    const OperatorDescriptor united = random_operator("united");
    const SequentialBlock router = seq(distribution_of(united));
    std::vector<ParallelBlock> routed;
    std::vector<ParallelBlock> after;
    for (std::size_t i = 0; i < count; ++i) {
        if ((mask >> i & 1U) == 0) {
            after.push_back(branches[i]);
        } else {
            routed.push_back(combine_with_last(branches[i], router));
        }
    }
    const auto place = static_cast<std::ptrdiff_t>(chosen.front());
    after.insert(after.begin() + place, all_to_all(container(routed), create(united).term()));
    const ParallelBlock expected = replaced(base, end, all_to_all(left, container(after)));

    const RuleOutcome outcome = merge(term, ends, united);
    RC_ASSERT(bool(outcome));
    std::vector<Rule> rules = outcome.transition().rules;
    RC_ASSERT(rules.back() == Rule::merge_4);
    rules.pop_back();
    for (const Rule rule : rules) RC_ASSERT(rule == Rule::merge_1 || rule == Rule::merge_2);
    RC_ASSERT(outcome.term() == expected);

    const bool whole = ends.size() == chosen.size();
    RC_CLASSIFY(!whole, "a branch with several ends");
    if (whole) return;
    // Without one end of a branch that has several, and with some ends of each branch.
    for (const std::size_t index : chosen) {
        const std::vector<ParallelBlock> own = MultiPipe::view(branches[index])->rightmost();
        if (own.size() == 1) continue;
        std::erase(ends, *rc::gen::elementOf(own));
        break;
    }
    const RuleOutcome part = merge(term, ends, united);
    RC_ASSERT(part.transition().rules.back() == Rule::merge_3);
    RC_ASSERT(part.term() == term);
}

}  // namespace
}  // namespace strid::block
