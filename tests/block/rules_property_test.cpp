// SPDX-License-Identifier: Apache-2.0
//
// Laws of the rules on random programs. Growing one Matryoshka is checked against a model that
// writes the expected term as text; programs with splits and merges against the laws that every
// transition keeps: grammar (2), exactly the new operators, the other ends untouched.
#include <algorithm>
#include <bit>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <strid/block/dag.hpp>
#include <strid/block/grammar.hpp>
#include <strid/block/placement.hpp>
#include <strid/block/rules.hpp>
#include <strid/block/utility.hpp>

#include "operators.hpp"
#include "term_graph.hpp"

namespace strid::block {
namespace {

// One level of dolls as text: the nodes of its pipe, and how many pipes.
struct LevelModel {
    std::size_t replicas;
    std::vector<std::string> nodes;
    std::size_t seqs;       // in one pipe
    std::size_t combiners;  // in one pipe
};

struct MatryoshkaModel {
    std::vector<LevelModel> levels;

    [[nodiscard]] std::string text(std::size_t from = 0) const {
        const LevelModel& level = levels[from];
        std::string nodes;
        for (const std::string& node : level.nodes) {
            if (!nodes.empty()) nodes += " * ";
            nodes += node;
        }
        std::string own = fmt::format("Pipe({})", nodes);
        if (level.replicas > 1) own = fmt::format("[{}]^{}", own, level.replicas);
        if (from + 1 == levels.size()) return own;
        return fmt::format("A2A({}, {})", own, text(from + 1));
    }

    [[nodiscard]] BlockCounts counts() const {
        BlockCounts totals;
        for (const LevelModel& level : levels) {
            totals.seqs += level.seqs * level.replicas;
            totals.combiners += level.combiners * level.replicas;
            totals.pipes += level.replicas;
        }
        totals.all_to_alls = levels.size() - 1;
        // Both sides of each A2A; a lone level only where it is more than one pipe.
        totals.containers =
            levels.size() > 1 ? 2 * (levels.size() - 1) : (levels[0].replicas > 1 ? 1u : 0u);
        return totals;
    }

    void combine(const std::string& function) {
        std::string& node = levels.back().nodes.back();
        node = fmt::format("Comb({}, Seq({}))", node, function);
        ++levels.back().seqs;
        ++levels.back().combiners;
    }
    void append(const std::string& function) {
        levels.back().nodes.push_back(fmt::format("Seq({})", function));
        ++levels.back().seqs;
    }
    void begin(const OperatorDescriptor& descriptor) {
        levels.push_back({descriptor.replicas, {fmt::format("Seq({})", descriptor.name)}, 1, 0});
    }
    void shuffle(const OperatorDescriptor& descriptor, ShuffleComposition composition) {
        const std::string distribution = fmt::format("f_d({})", descriptor.name);
        if (composition == ShuffleComposition::combined) {
            combine(distribution);
        } else if (composition == ShuffleComposition::dedicated || levels.back().replicas == 1) {
            append(distribution);
        } else {
            levels.push_back({1, {fmt::format("Seq({})", distribution)}, 1, 0});
        }
        begin(descriptor);
    }
};

OperatorDescriptor random_operator(const std::string& name) {
    const OperatorKind kind =
        *rc::gen::element(OperatorKind::map, OperatorKind::filter, OperatorKind::flat_map,
                          OperatorKind::accumulator, OperatorKind::parallel_windows);
    OperatorDescriptor descriptor = make_operator(name, kind, *rc::gen::inRange<std::size_t>(1, 4));
    if (descriptor.distribution == DistributionKind::forward) {
        descriptor.distribution =
            *rc::gen::element(DistributionKind::forward, DistributionKind::forward,
                              DistributionKind::keyby, DistributionKind::broadcast);
    }
    return descriptor;
}

RC_GTEST_PROP(RuleProperties, GrowingMatchesTheModel, ()) {
    const OperatorDescriptor first = testing::source("op0", *rc::gen::inRange<std::size_t>(1, 4));
    ParallelBlock term = create(first).term();
    MatryoshkaModel model;
    model.begin(first);
    const int length = *rc::gen::inRange(0, 8);
    for (int index = 1; index <= length; ++index) {
        const OperatorDescriptor next = random_operator(fmt::format("op{}", index));
        const bool chained = *rc::gen::arbitrary<bool>();
        const auto composition =
            *rc::gen::element(ShuffleComposition::combined, ShuffleComposition::dedicated,
                              ShuffleComposition::centralised);
        const bool direct = next.distribution == DistributionKind::forward &&
                            next.replicas == model.levels.back().replicas;
        const Outcome outcome =
            chained ? chain(term, next, composition) : add(term, next, composition);
        RC_ASSERT(bool(outcome));
        std::vector<Rule> rules;
        if (chained) rules.push_back(direct ? Rule::chain_1 : Rule::chain_2);
        if (!direct) rules.push_back(Rule::add_shuffle);
        if (direct && !chained) rules.push_back(Rule::add_direct);
        RC_ASSERT(outcome.transition().rules == rules);
        if (!direct) {
            model.shuffle(next, composition);
        } else if (chained) {
            model.combine(next.name);
        } else {
            model.append(next.name);
        }
        term = outcome.term();
        RC_ASSERT(last_operator(term) == next.kind);
    }
    RC_ASSERT(to_string(term, Notation::ascii) == model.text());
    RC_ASSERT(counts(term) == model.counts());
    RC_ASSERT(is_matryoshka(term));
    RC_ASSERT(out_card(term) == model.levels.back().replicas);
    std::size_t nodes = 0;
    for (const LevelModel& level : model.levels) nodes += level.replicas * level.nodes.size();
    RC_ASSERT(placement_order(term).size() == nodes);
    // A closed term takes nothing more.
    const ParallelBlock closed = add(term, testing::sink("end")).term();
    RC_ASSERT(add(closed, testing::map("more")).refusal() == Refusal::closed);
    RC_ASSERT(chain(closed, testing::map("more")).refusal() == Refusal::closed);
}

RC_GTEST_PROP(RuleProperties, FigureFiveTouchesTheRightmostPipesOnly, ()) {
    // A random term: a tree of containers and A2As over numbered pipes.
    int number = 0;
    const auto build = [&](const auto& self, int depth) -> ParallelBlock {
        const int shape = depth == 0 ? 0 : *rc::gen::inRange(0, 3);
        if (shape == 0) return create(testing::map(fmt::format("p{}", number++))).term();
        if (shape == 1) return container({self(self, depth - 1), self(self, depth - 1)});
        const ParallelBlock left = self(self, depth - 1);
        return all_to_all(left, self(self, depth - 1));
    };
    const ParallelBlock term = build(build, 4);
    const auto rightmost = [](const auto& self, const ParallelBlock& block) -> std::size_t {
        if (block.kind() == ParallelBlock::Kind::pipe) return 1;
        if (block.kind() == ParallelBlock::Kind::all_to_all) return self(self, block.right());
        std::size_t pipes = 0;
        for (const ParallelBlock& part : block.elements()) pipes += self(self, part);
        return pipes;
    };
    const std::size_t ends = rightmost(rightmost, term);
    const SequentialBlock extra = seq(distribution_of(testing::map("z")));
    BlockCounts combined = counts(term);
    combined.seqs += ends;
    combined.combiners += ends;
    RC_ASSERT(counts(combine_with_last(term, extra)) == combined);
    BlockCounts piped = counts(term);
    piped.seqs += ends;
    RC_ASSERT(counts(pipe_with_last(term, extra)) == piped);
    RC_ASSERT(operator_names(combine_with_last(term, extra)) == operator_names(term));
}

std::set<std::string> name_set(const ParallelBlock& term) {
    const std::vector<std::string> names = operator_names(term);
    return {names.begin(), names.end()};
}

std::vector<std::string> texts(const std::vector<ParallelBlock>& blocks) {
    std::vector<std::string> all;
    for (const ParallelBlock& block : blocks) all.push_back(to_string(block));
    std::sort(all.begin(), all.end());
    return all;
}

// Some of the ends, at least one.
std::vector<ParallelBlock> some_of(const std::vector<ParallelBlock>& ends) {
    std::vector<ParallelBlock> chosen;
    for (const ParallelBlock& end : ends) {
        if (*rc::gen::arbitrary<bool>()) chosen.push_back(end);
    }
    if (chosen.empty()) chosen.push_back(ends.front());
    return chosen;
}

RC_GTEST_PROP(RuleProperties, SplitsAndMergesKeepTheGrammar, ()) {
    ParallelBlock term = create(random_operator("op0")).term();
    int number = 1;
    const auto fresh = [&] { return random_operator(fmt::format("op{}", number++)); };
    const int length = *rc::gen::inRange(1, 10);
    for (int step = 0; step < length; ++step) {
        const std::vector<ParallelBlock> ends = MultiPipe::view(term)->rightmost();
        const std::vector<ParallelBlock> chosen = some_of(ends);
        const int action = *rc::gen::inRange(0, 3);
        std::vector<OperatorDescriptor> added{fresh()};
        if (action == 1) added.push_back(fresh());
        if (action == 2 && chosen.size() < 2) continue;
        const Outcome outcome = action == 0   ? add_in(term, chosen.front(), added.front())
                                : action == 1 ? split(term, chosen.front(), added)
                                              : merge(term, chosen, added.front());
        RC_ASSERT(bool(outcome));
        const ParallelBlock& after = outcome.term();
        RC_ASSERT(is_multipipe(after));
        RC_ASSERT(outcome.transition().before == std::vector<ParallelBlock>{term});
        std::set<std::string> expected = name_set(term);
        if (!outcome.transition().changed()) {
            RC_ASSERT(outcome.transition().rules.back() == Rule::merge_3);
            continue;
        }
        for (const OperatorDescriptor& descriptor : added) expected.insert(descriptor.name);
        RC_ASSERT(name_set(after) == expected);
        // The ends that took no part are still ends, as they were; the others gave way to new ones.
        std::vector<ParallelBlock> untouched;
        for (const ParallelBlock& end : ends) {
            const bool took_part =
                action == 2 ? std::find(chosen.begin(), chosen.end(), end) != chosen.end()
                            : end == chosen.front();
            if (!took_part) untouched.push_back(end);
        }
        std::vector<ParallelBlock> created;
        if (action == 0) {
            created.push_back(add(chosen.front(), added.front()).term());
        } else {
            for (const OperatorDescriptor& descriptor : added) {
                created.push_back(create(descriptor).term());
            }
        }
        untouched.insert(untouched.end(), created.begin(), created.end());
        RC_ASSERT(texts(MultiPipe::view(after)->rightmost()) == texts(untouched));
        term = after;
    }
}

/// The term with one Matryoshka in the place of another, wherever it is; names are unique.
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

/// With some more operators one after the other, each added or splitting an end.
ParallelBlock grown(ParallelBlock term, int& number) {
    const auto fresh = [&] { return random_operator(fmt::format("op{}", number++)); };
    const int length = *rc::gen::inRange(0, 4);
    for (int step = 0; step < length; ++step) {
        const ParallelBlock end = *rc::gen::elementOf(MultiPipe::view(term)->rightmost());
        term = *rc::gen::arbitrary<bool>() ? add_in(term, end, fresh()).term()
                                           : split(term, end, {fresh(), fresh()}).term();
    }
    return term;
}
ParallelBlock random_multipipe(int& number) {
    ParallelBlock first = create(random_operator(fmt::format("op{}", number++))).term();
    return grown(std::move(first), number);
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
    const Outcome outcome = split(term, end, branches);
    RC_ASSERT(bool(outcome));
    RC_ASSERT(outcome.transition().rules.back() == Rule::split_3);
    RC_ASSERT(outcome.term() == expected);
    // What is no end any more has been split: splitting it again has no effect.
    const Outcome again =
        split(outcome.term(), end, {testing::map("again0"), testing::map("again1")});
    RC_ASSERT(again.transition().rules.back() == Rule::split_no_effect);
    RC_ASSERT(again.term() == outcome.term());
}

// Figure 9 and 10: what a sink ends takes no part any more.
RC_GTEST_PROP(RuleProperties, SinksCloseTheirEnds, ()) {
    int number = 0;
    const ParallelBlock open = random_multipipe(number);
    const std::vector<ParallelBlock> ends = MultiPipe::view(open)->rightmost();
    const ParallelBlock end = *rc::gen::elementOf(ends);
    const ParallelBlock closed_end = add(end, testing::sink("sink")).term();
    const Outcome outcome = add_in(open, end, testing::sink("sink"));
    RC_ASSERT(bool(outcome));
    const ParallelBlock& term = outcome.term();
    RC_ASSERT(term == replaced(open, end, closed_end));
    RC_ASSERT(MultiPipe::view(open)->no_sink());
    RC_ASSERT(!MultiPipe::view(term)->no_sink());
    const OperatorDescriptor more = testing::map("more");
    const Outcome split_of_it = split(term, closed_end, {more, testing::map("other")});
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

// Figure 10, merge-ind: every end is combined with the distribution of the new operator. And
// merging what the term does not contain has no effect.
RC_GTEST_PROP(RuleProperties, IndependentMultiPipesMerge, ()) {
    int number = 0;
    std::vector<ParallelBlock> separate;
    const int count = *rc::gen::inRange(2, 5);
    for (int i = 0; i < count; ++i) separate.push_back(random_multipipe(number));
    const OperatorDescriptor united = random_operator("united");
    const SequentialBlock router = seq(distribution_of(united));
    std::vector<ParallelBlock> routed;
    for (const ParallelBlock& term : separate) routed.push_back(combine_with_last(term, router));
    const Outcome outcome = merge_independent(separate, united);
    RC_ASSERT(bool(outcome));
    RC_ASSERT(outcome.transition().rules == std::vector<Rule>{Rule::merge_independent});
    RC_ASSERT(outcome.transition().before == separate);
    RC_ASSERT(outcome.term() == all_to_all(container(routed), create(united).term()));
    RC_ASSERT(is_multipipe(outcome.term()));

    const std::vector<ParallelBlock> strangers{create(testing::source("stranger0")).term(),
                                               create(testing::source("stranger1")).term()};
    const Outcome none = merge(outcome.term(), strangers, testing::map("more"));
    RC_ASSERT(none.transition().rules.back() == Rule::merge_no_effect);
    RC_ASSERT(none.term() == outcome.term());
}

// Figure 10, merge1 to merge4: whole branches of one split, wherever in the term it is, give way to
// the new MultiPipe in which they end; it stands where the first of them stood, and nothing else
// changes. Of a branch that was split again, all ends must take part, or none does.
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

    const Outcome outcome = merge(term, ends, united);
    RC_ASSERT(bool(outcome));
    std::vector<Rule> rules = outcome.transition().rules;
    RC_ASSERT(rules.back() == Rule::merge_4);
    rules.pop_back();
    for (const Rule rule : rules) RC_ASSERT(rule == Rule::merge_1 || rule == Rule::merge_2);
    RC_ASSERT(outcome.term() == expected);

    const bool whole = ends.size() == chosen.size();
    RC_CLASSIFY(!whole, "a branch with several ends");
    if (whole) return;
    // Without one end of a branch that has several, but with some of each branch.
    for (const std::size_t index : chosen) {
        const std::vector<ParallelBlock> own = MultiPipe::view(branches[index])->rightmost();
        if (own.size() == 1) continue;
        std::erase(ends, *rc::gen::elementOf(own));
        break;
    }
    const Outcome part = merge(term, ends, united);
    RC_ASSERT(part.transition().rules.back() == Rule::merge_3);
    RC_ASSERT(part.term() == term);
}

RC_GTEST_PROP(ComposeProperties, TermsMeanTheGraphTheyWereMadeOf, ()) {
    const std::size_t size = *rc::gen::inRange<std::size_t>(1, 9);
    Dag dag;
    for (std::size_t vertex = 0; vertex < size; ++vertex) {
        dag.add_vertex(random_operator(fmt::format("v{}", vertex)),
                       *rc::gen::element(Attachment::add, Attachment::chain));
    }
    for (std::size_t to = 1; to < size; ++to) {
        // Few edges each, so that terms of the grammar are common.
        const int inputs = *rc::gen::element(0, 1, 1, 1, 1, 2, 3);
        for (int input = 0; input < inputs; ++input) {
            const std::size_t from = *rc::gen::inRange<std::size_t>(0, to);
            const std::vector<Dag::Edge>& edges = dag.edges();
            if (std::find(edges.begin(), edges.end(), Dag::Edge{from, to}) == edges.end()) {
                dag.add_edge(from, to);
            }
        }
    }
    const Composition composition = compose(dag);
    RC_CLASSIFY(composition.in_grammar(), "in the grammar");
    testing::NamedEdges built;
    if (composition.in_grammar()) {
        for (const ParallelBlock& term : *composition.multipipes) {
            RC_ASSERT(is_multipipe(term));
            testing::collect_edges(term, built);
        }
    } else {
        for (const Composition::Section& section : composition.sections) {
            const testing::Borders borders = testing::collect_edges(section.matryoshka, built);
            const std::string& last = dag.operator_at(section.operators.back()).name;
            std::set<std::string> next;
            for (const std::size_t successor : section.successors) {
                const std::size_t first = composition.sections[successor].operators.front();
                next.insert(dag.operator_at(first).name);
                built.emplace(last, dag.operator_at(first).name);
            }
            RC_ASSERT(borders.addressed == next);
        }
    }
    RC_ASSERT(built == testing::edges_of(dag));
    RC_ASSERT(!composition.derivation.explain().empty());
}

}  // namespace
}  // namespace strid::block
