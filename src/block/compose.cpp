// SPDX-License-Identifier: Apache-2.0
//
// From a graph to blocks. First the graph is cut into sections, longest stretches without a branch;
// each is a Matryoshka. Then the paper's rules are tried, one section after another in topological
// order. A section without input is created; one behind a fork was begun by its split; one behind
// several sections merges them. The first rule that does not apply ends the attempt: the graph is
// then not in grammar (2). A test checks this against the grammar itself on every graph of up to
// five vertices.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/block/dag.hpp>
#include <strid/engine/block/grammar.hpp>

#include "rule_support.hpp"

namespace strid::block {

namespace {

struct SectionPlan {
    std::vector<std::size_t> operators;
    std::vector<std::size_t> successors;
    std::vector<std::size_t> predecessors;
};

std::vector<SectionPlan> cut_into_sections(const Dag& dag) {
    std::vector<SectionPlan> sections;
    std::vector<std::size_t> section_of(dag.size());
    for (const std::size_t vertex : dag.topological_order()) {
        const std::vector<std::size_t>& before = dag.predecessors(vertex);
        const bool continues = before.size() == 1 && dag.successors(before.front()).size() == 1;
        section_of[vertex] = continues ? section_of[before.front()] : sections.size();
        if (!continues) sections.emplace_back();
        sections[section_of[vertex]].operators.push_back(vertex);
    }
    for (std::size_t index = 0; index < sections.size(); ++index) {
        for (const std::size_t next : dag.successors(sections[index].operators.back())) {
            sections[index].successors.push_back(section_of[next]);
        }
        for (const std::size_t previous : dag.predecessors(sections[index].operators.front())) {
            sections[index].predecessors.push_back(section_of[previous]);
        }
    }
    return sections;
}

// How a vertex distributes where it adds an operator, and where its records fork or merge.
ShuffleComposition in_shuffle(const Dag& dag, std::size_t vertex, ShuffleComposition asked) {
    return dag.routing_at(vertex).value_or(asked);
}
ShuffleComposition at_border(const Dag& dag, const SectionPlan& section) {
    return dag.routing_at(section.operators.back()).value_or(ShuffleComposition::combined);
}

// Applies the rules section by section and holds the terms that exist so far.
class RuleComposer {
  public:
    RuleComposer(const Dag& dag, const std::vector<SectionPlan>& sections,
                 ShuffleComposition composition)
        : dag_(dag), sections_(sections), composition_(composition), parts_(sections.size()) {}

    // False as soon as a rule does not apply.
    bool run() {
        for (std::size_t section = 0; section < sections_.size(); ++section) {
            if (!begin(section) || !extend(section) || !fork(section)) return false;
        }
        return true;
    }

    [[nodiscard]] std::vector<ParallelBlock> terms() const {
        std::vector<ParallelBlock> found;
        for (const std::optional<ParallelBlock>& term : terms_) {
            if (term) found.push_back(*term);
        }
        return found;
    }
    [[nodiscard]] const Derivation& derivation() const noexcept { return derivation_; }

  private:
    struct Part {
        std::size_t term = 0;               // index into terms_
        std::optional<ParallelBlock> open;  // the section's Matryoshka while it can still grow
    };

    [[nodiscard]] const OperatorDescriptor& first_operator(std::size_t section) const {
        return dag_.operator_at(sections_[section].operators.front());
    }

    [[nodiscard]] ParallelBlock seed_of(std::size_t section) const {
        return create(first_operator(section)).term();
    }

    bool begin(std::size_t section) {
        const std::vector<std::size_t>& before = sections_[section].predecessors;
        if (before.empty()) {
            terms_.push_back(derivation_.record(create(first_operator(section))));
            parts_[section] = {terms_.size() - 1, terms_.back()};
            return true;
        }
        if (before.size() == 1) return true;  // begun by the fork before it
        return join(section);
    }

    bool join(std::size_t section) {
        std::vector<std::size_t> terms;
        std::vector<ParallelBlock> streams;
        std::vector<RoutedApart> apart;
        for (const std::size_t previous : sections_[section].predecessors) {
            const Part& part = parts_[previous];
            if (!part.open)
                return false;  // a fork: a branch that also merges is not in the grammar
            streams.push_back(*part.open);
            apart.push_back({*part.open, at_border(dag_, sections_[previous])});
            if (std::find(terms.begin(), terms.end(), part.term) == terms.end()) {
                terms.push_back(part.term);
            }
        }
        const std::size_t target = terms.front();
        const RuleOutcome outcome =
            terms.size() == 1 ? merge(*terms_[target], streams, first_operator(section), apart)
                              : join_terms(terms, apart, first_operator(section));
        if (!outcome || !outcome.transition().changed()) return false;
        terms_[target] = derivation_.record(outcome);
        for (std::size_t other = 1; other < terms.size(); ++other) terms_[terms[other]].reset();
        for (Part& part : parts_) {
            if (std::find(terms.begin(), terms.end(), part.term) != terms.end()) part.term = target;
        }
        parts_[section] = {target, seed_of(section)};
        return true;
    }

    // merge-ind takes every open end of the MultiPipes, so it applies only if all of them are to
    // merge.
    RuleOutcome join_terms(const std::vector<std::size_t>& indices,
                           const std::vector<RoutedApart>& apart,
                           const OperatorDescriptor& descriptor) const {
        std::vector<ParallelBlock> multipipes;
        std::size_t ends = 0;
        for (const std::size_t index : indices) {
            multipipes.push_back(*terms_[index]);
            ends += MultiPipe::view(*terms_[index])->rightmost().size();
        }
        if (ends != apart.size()) return Refusal::not_rightmost;
        return merge_independent(multipipes, descriptor, apart);
    }

    bool extend(std::size_t section) {
        Part& part = parts_[section];
        const std::vector<std::size_t>& operators = sections_[section].operators;
        for (std::size_t place = 1; place < operators.size(); ++place) {
            const OperatorDescriptor& descriptor = dag_.operator_at(operators[place]);
            const Attachment attachment = dag_.attachment_at(operators[place]);
            const ShuffleComposition composition =
                in_shuffle(dag_, operators[place - 1], composition_);
            const RuleOutcome whole =
                add_in(*terms_[part.term], *part.open, descriptor, attachment, composition);
            const RuleOutcome alone = attachment == Attachment::add
                                          ? add(*part.open, descriptor, composition)
                                          : chain(*part.open, descriptor, composition);
            if (!whole || !alone) return false;
            terms_[part.term] = derivation_.record(whole);
            part.open = alone.term();
        }
        return true;
    }

    bool fork(std::size_t section) {
        const std::vector<std::size_t>& next = sections_[section].successors;
        if (next.size() < 2) return true;
        Part& part = parts_[section];
        std::vector<OperatorDescriptor> branches;
        for (const std::size_t successor : next) {
            branches.push_back(first_operator(successor));
        }
        const RuleOutcome outcome =
            split(*terms_[part.term], *part.open, branches, at_border(dag_, sections_[section]));
        if (!outcome || !outcome.transition().changed()) return false;
        terms_[part.term] = derivation_.record(outcome);
        part.open.reset();
        for (const std::size_t successor : next) {
            parts_[successor] = {part.term, seed_of(successor)};
        }
        return true;
    }

    const Dag& dag_;
    const std::vector<SectionPlan>& sections_;
    ShuffleComposition composition_;
    std::vector<Part> parts_;
    std::vector<std::optional<ParallelBlock>> terms_;
    Derivation derivation_;
};

// A section as a Matryoshka of its own, with the steps that made it.
ParallelBlock compose_section(const Dag& dag, const SectionPlan& section, ShuffleComposition asked,
                              Derivation& derivation) {
    ParallelBlock block = derivation.record(create(dag.operator_at(section.operators.front())));
    for (std::size_t place = 1; place < section.operators.size(); ++place) {
        const std::size_t vertex = section.operators[place];
        const OperatorDescriptor& descriptor = dag.operator_at(vertex);
        const ShuffleComposition composition = in_shuffle(dag, section.operators[place - 1], asked);
        block = derivation.record(dag.attachment_at(vertex) == Attachment::add
                                      ? add(block, descriptor, composition)
                                      : chain(block, descriptor, composition));
    }
    return block;
}

// With the distributions to the sections that follow, in the last nodes of the section, as merge
// and split have them.
ParallelBlock with_routing(const ParallelBlock& block, const Dag& dag,
                           const std::vector<SectionPlan>& sections, const SectionPlan& section) {
    std::vector<SequentialBlock> distributions;
    for (const std::size_t next : section.successors) {
        distributions.push_back(
            seq(distribution_of(dag.operator_at(sections[next].operators.front()))));
    }
    if (distributions.empty()) return block;
    const std::string& name = dag.operator_at(section.operators.back()).name;
    return detail::with_router(block,
                               distributions.size() == 1
                                   ? distributions.front()
                                   : fan_out(seq(splitting_after(name)), std::move(distributions)),
                               at_border(dag, section));
}

}  // namespace

DagComposition compose(const Dag& dag, ShuffleComposition composition) {
    if (dag.size() == 0) throw GraphError("the graph has no operators");
    const std::vector<SectionPlan> sections = cut_into_sections(dag);
    DagComposition result;
    for (const SectionPlan& section : sections) {
        const ParallelBlock block = compose_section(dag, section, composition, result.derivation);
        result.sections.push_back(
            {section.operators, with_routing(block, dag, sections, section), section.successors});
    }
    RuleComposer composer(dag, sections, composition);
    if (composer.run()) {
        result.multipipes = composer.terms();
        result.derivation = composer.derivation();
    }
    return result;
}

bool is_expressible(const Dag& dag) {
    return compose(dag).in_grammar();
}

std::vector<PlacedNode> placement_order(const DagComposition& composition) {
    std::vector<PlacedNode> order;
    const auto append = [&](const ParallelBlock& block) {
        for (PlacedNode& node : placement_order(block)) order.push_back(std::move(node));
    };
    if (composition.multipipes) {
        for (const ParallelBlock& term : *composition.multipipes) append(term);
    } else {
        for (const DagComposition::Section& section : composition.sections)
            append(section.matryoshka);
    }
    return order;
}

BlockCounts DagComposition::counts() const {
    BlockCounts totals;
    if (multipipes) {
        for (const ParallelBlock& term : *multipipes) totals += block::counts(term);
    } else {
        for (const Section& section : sections) totals += block::counts(section.matryoshka);
    }
    return totals;
}

std::string DagComposition::explain(Notation notation) const {
    std::string text = derivation.explain(notation) + "\n";
    if (multipipes) {
        for (const ParallelBlock& term : *multipipes) {
            text += fmt::format("MultiPipe  {}\n", to_string(term, notation));
        }
    } else {
        text += "Not in grammar (2): Matryoshkas with edges\n";
        const char* arrow = notation == Notation::unicode ? "→" : "->";
        for (std::size_t index = 0; index < sections.size(); ++index) {
            text +=
                fmt::format("M{}  {}\n", index, to_string(sections[index].matryoshka, notation));
            for (const std::size_t next : sections[index].successors) {
                text += fmt::format("    M{} {} M{}\n", index, arrow, next);
            }
        }
    }
    return text + fmt::format("total  {}\n", to_string(counts()));
}

}  // namespace strid::block
