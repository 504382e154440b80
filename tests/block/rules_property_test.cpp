// SPDX-License-Identifier: Apache-2.0
//
// Invariants of the rules on random programs. Growing one Matryoshka is checked against a model
// that writes the expected term as text. Programs with splits and merges are checked against the
// invariants of every transition: grammar (2), exactly the new operators, the other ends untouched.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <strid/engine/block/dag.hpp>
#include <strid/engine/block/grammar.hpp>
#include <strid/engine/block/node_order.hpp>
#include <strid/engine/block/rules.hpp>
#include <strid/engine/block/utility.hpp>

#include "operators.hpp"
#include "random_operators.hpp"
#include "term_graph.hpp"

namespace strid::block {
namespace {

using testing::random_operator;

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
        // Both sides of each A2A; a lone level only if it is more than one pipe.
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
        const RuleOutcome outcome =
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
    // A closed term accepts no operator.
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
        const RuleOutcome outcome = action == 0   ? add_in(term, chosen.front(), added.front())
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
        // The ends that took no part are still ends, unchanged; the others are replaced by new
        // ones.
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
    const DagComposition composition = compose(dag);
    RC_CLASSIFY(composition.in_grammar(), "in the grammar");
    testing::NamedEdges built;
    if (composition.in_grammar()) {
        for (const ParallelBlock& term : *composition.multipipes) {
            RC_ASSERT(is_multipipe(term));
            testing::collect_edges(term, built);
        }
    } else {
        for (const DagComposition::Section& section : composition.sections) {
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
