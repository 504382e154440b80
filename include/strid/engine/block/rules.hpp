// SPDX-License-Identifier: Apache-2.0
//
// The operational semantics of paper 2, figures 7, 9 and 10, as pure functions. Each takes terms
// and returns either a Transition (the new term and the names of the applied rules, from the
// outermost inwards) or the Refusal that names the side condition that does not hold. The paper's
// no-effect rules are transitions that leave the term unchanged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <strid/engine/block/parallel_block.hpp>

namespace strid::block {

/// Rules by their names in the figures. `in_branch` is an addition: the congruence that applies an
/// add or a chain to one rightmost Matryoshka of a MultiPipe; the paper's API does this by
/// `select()`.
enum class Rule : std::uint8_t {
    create,
    add_direct,
    add_shuffle,
    chain_1,
    chain_2,
    in_branch,
    split_1,
    split_2,
    split_3,
    split_no_effect,
    merge_independent,
    merge_1,
    merge_2,
    merge_3,
    merge_4,
    merge_no_effect
};
[[nodiscard]] std::string_view to_string(Rule rule) noexcept;

/// Why an operation is undefined on its operands.
enum class Refusal : std::uint8_t {
    closed,            ///< an operator was to follow a sink
    not_a_matryoshka,  ///< the operand is no term of grammar (1)
    not_a_multipipe,   ///< the operand is no term of grammar (2)
    not_rightmost,     ///< the Matryoshka to be changed is not one of the rightmost
    already_routed,    ///< the Matryoshka ends in a distribution: it was split or merged before
    source_inside,     ///< a source receives nothing, so it can only begin a term
    no_replicas,       ///< an operator of zero replicas
    inadmissible,      ///< a distribution that table 1 does not give this operator
    duplicate_name,    ///< an operator of that name is already in the term
    too_few_branches,  ///< a split needs at least two
    too_few_to_merge   ///< a merge needs at least two
};
[[nodiscard]] std::string_view to_string(Refusal refusal) noexcept;

/// How add-shuffle composes the distribution with its neighbours: paper 2, figure 17.
enum class ShuffleComposition : std::uint8_t {
    combined,    ///< within the nodes of the operator before (the paper's rule, the default)
    dedicated,   ///< a separate node behind every replica of the operator before
    centralised  ///< one node that all the replicas before feed and all the replicas after read
};

/// A Matryoshka whose distribution is in separate nodes when it is merged.
struct RoutedApart {
    ParallelBlock matryoshka;
    ShuffleComposition composition;
};

/// One application of an operation.
struct Transition {
    std::string operation;              ///< "add counter x2"
    std::vector<Rule> rules;            ///< outermost first
    std::vector<ParallelBlock> before;  ///< none for create, several for merge_independent
    ParallelBlock after;

    /// False for the no-effect rules.
    [[nodiscard]] bool changed() const { return before.size() != 1 || !(before.front() == after); }
};

/// A transition, or the reason there is none.
class [[nodiscard]] RuleOutcome {
  public:
    RuleOutcome(Transition transition) : value_(std::move(transition)) {}
    RuleOutcome(Refusal refusal) : value_(refusal) {}

    [[nodiscard]] explicit operator bool() const noexcept { return value_.index() == 0; }
    /// Precondition: the outcome is a transition.
    [[nodiscard]] const Transition& transition() const { return std::get<Transition>(value_); }
    /// The new term. Precondition: the outcome is a transition.
    [[nodiscard]] const ParallelBlock& term() const { return transition().after; }
    /// Precondition: the outcome is a refusal.
    [[nodiscard]] Refusal refusal() const { return std::get<Refusal>(value_); }

  private:
    std::variant<Transition, Refusal> value_;
};

/// create: OP -> M (figure 7): a seed, one pipe of one node for each replica. Any operator may
/// begin a term, because branches begin with operators that are no source.
RuleOutcome create(const OperatorDescriptor& descriptor);

/// add: OP x M -> M (figure 7). add-direct when the distribution is forward and the replicas equal
/// OutCard(M), else add-shuffle, composed as asked. Refused when M is closed.
RuleOutcome add(const ParallelBlock& matryoshka, const OperatorDescriptor& descriptor,
                ShuffleComposition composition = ShuffleComposition::combined);

/// chain: OP x M -> M (figure 7). Combines with the last nodes under the condition of add-direct
/// (chain1), else adds (chain2).
RuleOutcome chain(const ParallelBlock& matryoshka, const OperatorDescriptor& descriptor,
                  ShuffleComposition composition = ShuffleComposition::combined);

/// The operation of `add_in` on the branch.
enum class Attachment : std::uint8_t { add, chain };

/// Adds or chains an operator to one rightmost Matryoshka of a MultiPipe, in its place.
RuleOutcome add_in(const ParallelBlock& multipipe, const ParallelBlock& rightmost,
                   const OperatorDescriptor& descriptor, Attachment attachment = Attachment::add,
                   ShuffleComposition composition = ShuffleComposition::combined);

/// split: Z x G -> G (figure 9): the Matryoshka's records go to new branches, one for each of the n
/// > 1 operators, as its splitting function decides. No effect (split-noeffect) when `matryoshka`
/// is not one of the rightmost, or is closed. `composition` is as for an add-shuffle (figure 17).
RuleOutcome split(const ParallelBlock& multipipe, const ParallelBlock& matryoshka,
                  const std::vector<OperatorDescriptor>& branches,
                  ShuffleComposition composition = ShuffleComposition::combined);

/// merge-ind: G* x OP -> G (figure 10): unites n > 1 separate MultiPipes before a new operator.
/// Refused when one of their rightmost Matryoshkas is closed. Their distributions are combined with
/// their last nodes, except for those that are routed apart.
RuleOutcome merge_independent(const std::vector<ParallelBlock>& multipipes,
                              const OperatorDescriptor& descriptor,
                              const std::vector<RoutedApart>& apart = {});

/// merge: Xi x G -> G (figure 10): unites n > 1 of the rightmost Matryoshkas before a new operator.
/// They must be all the rightmost of two or more sibling branches of one split (merge4, found
/// through merge1 and merge2); otherwise the term stays as it is (merge3), and also when it
/// contains none of them (merge-noeffect). Composed as by merge_independent.
RuleOutcome merge(const ParallelBlock& multipipe, const std::vector<ParallelBlock>& matryoshkas,
                  const OperatorDescriptor& descriptor, const std::vector<RoutedApart>& apart = {});

}  // namespace strid::block
