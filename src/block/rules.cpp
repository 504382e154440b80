// SPDX-License-Identifier: Apache-2.0
//
// Figure 7: create, add and chain; with the alternatives of figure 17 for add-shuffle.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <strid/engine/block/grammar.hpp>
#include <strid/engine/block/rules.hpp>
#include <strid/engine/block/utility.hpp>

#include "rule_support.hpp"

namespace strid::block {

namespace detail {

ParallelBlock new_seed(const OperatorDescriptor& descriptor) {
    return replicate(pipe({seq(logic_of(descriptor))}), descriptor.replicas);
}

std::optional<Refusal> refuse_operator(const std::vector<OperatorDescriptor>& descriptors,
                                       const std::vector<ParallelBlock>& terms) {
    std::unordered_set<std::string> names;
    for (const ParallelBlock& term : terms) {
        for (std::string& name : operator_names(term)) {
            if (!names.insert(std::move(name)).second) return Refusal::duplicate_name;
        }
    }
    for (const OperatorDescriptor& descriptor : descriptors) {
        if (descriptor.replicas == 0) return Refusal::no_replicas;
        if (!is_admissible(descriptor.kind, descriptor.distribution)) return Refusal::inadmissible;
        if (!terms.empty() && descriptor.kind == OperatorKind::source) {
            return Refusal::source_inside;
        }
        if (!names.insert(descriptor.name).second) return Refusal::duplicate_name;
    }
    return std::nullopt;
}

std::string describe(const OperatorDescriptor& descriptor) {
    return fmt::format("{} x{}", descriptor.name, descriptor.replicas);
}

ParallelBlock with_router(const ParallelBlock& matryoshka, const SequentialBlock& router,
                          ShuffleComposition composition) {
    if (composition == ShuffleComposition::combined) return combine_with_last(matryoshka, router);
    if (composition == ShuffleComposition::dedicated || out_card(matryoshka) == 1) {
        return pipe_with_last(matryoshka, router);
    }
    return *replace_seed(matryoshka, pipe({router}));
}

ParallelBlock exchange(const ParallelBlock& block, const ParallelBlock& target,
                       const ParallelBlock& replacement) {
    if (block == target) return replacement;
    if (is_matryoshka(block)) return block;
    std::vector<ParallelBlock> branches = branches_of(block.right());
    for (ParallelBlock& branch : branches) branch = exchange(branch, target, replacement);
    return all_to_all(block.left(), container(std::move(branches)));
}

bool contains(const std::vector<ParallelBlock>& blocks, const ParallelBlock& block) {
    return std::find(blocks.begin(), blocks.end(), block) != blocks.end();
}

}  // namespace detail

namespace {

std::optional<Refusal> refuse_growth(const ParallelBlock& block,
                                     const OperatorDescriptor& descriptor) {
    const std::optional<Matryoshka> matryoshka = Matryoshka::view(block);
    if (!matryoshka) return Refusal::not_a_matryoshka;
    if (matryoshka->closed()) return Refusal::closed;
    if (!matryoshka->last_operator()) return Refusal::already_routed;
    return detail::refuse_operator({descriptor}, {block});
}

bool is_direct(const ParallelBlock& matryoshka, const OperatorDescriptor& descriptor) {
    return descriptor.distribution == DistributionKind::forward &&
           descriptor.replicas == out_card(matryoshka);
}

ParallelBlock grow(const ParallelBlock& matryoshka, const OperatorDescriptor& descriptor,
                   ShuffleComposition composition, Rule& rule) {
    if (is_direct(matryoshka, descriptor)) {
        rule = Rule::add_direct;
        return pipe_with_last(matryoshka, seq(logic_of(descriptor)));
    }
    rule = Rule::add_shuffle;
    return *replace_seed(
        detail::with_router(matryoshka, seq(distribution_of(descriptor)), composition),
        detail::new_seed(descriptor));
}

}  // namespace

RuleOutcome create(const OperatorDescriptor& descriptor) {
    if (const auto refusal = detail::refuse_operator({descriptor}, {})) return *refusal;
    return Transition{.operation = fmt::format("create {}", detail::describe(descriptor)),
                      .rules = {Rule::create},
                      .before = {},
                      .after = detail::new_seed(descriptor)};
}

RuleOutcome add(const ParallelBlock& matryoshka, const OperatorDescriptor& descriptor,
                ShuffleComposition composition) {
    if (const auto refusal = refuse_growth(matryoshka, descriptor)) return *refusal;
    Rule rule{};
    ParallelBlock after = grow(matryoshka, descriptor, composition, rule);
    return Transition{.operation = fmt::format("add {}", detail::describe(descriptor)),
                      .rules = {rule},
                      .before = {matryoshka},
                      .after = std::move(after)};
}

RuleOutcome chain(const ParallelBlock& matryoshka, const OperatorDescriptor& descriptor,
                  ShuffleComposition composition) {
    if (const auto refusal = refuse_growth(matryoshka, descriptor)) return *refusal;
    Transition transition{.operation = fmt::format("chain {}", detail::describe(descriptor)),
                          .rules = {Rule::chain_1},
                          .before = {matryoshka},
                          .after = matryoshka};
    if (is_direct(matryoshka, descriptor)) {
        transition.after = combine_with_last(matryoshka, seq(logic_of(descriptor)));
    } else {
        Rule rule{};
        transition.after = grow(matryoshka, descriptor, composition, rule);
        transition.rules = {Rule::chain_2, rule};
    }
    return transition;
}

RuleOutcome add_in(const ParallelBlock& multipipe, const ParallelBlock& rightmost,
                   const OperatorDescriptor& descriptor, Attachment attachment,
                   ShuffleComposition composition) {
    const std::optional<MultiPipe> view = MultiPipe::view(multipipe);
    if (!view) return Refusal::not_a_multipipe;
    if (!detail::contains(view->rightmost(), rightmost)) return Refusal::not_rightmost;
    if (const auto refusal = detail::refuse_operator({descriptor}, {multipipe})) return *refusal;
    const RuleOutcome inner = attachment == Attachment::add
                                  ? add(rightmost, descriptor, composition)
                                  : chain(rightmost, descriptor, composition);
    if (!inner || multipipe == rightmost) return inner;
    Transition transition = inner.transition();
    transition.rules.insert(transition.rules.begin(), Rule::in_branch);
    transition.before = {multipipe};
    transition.after = detail::exchange(multipipe, rightmost, inner.term());
    return transition;
}

std::string_view to_string(Rule rule) noexcept {
    switch (rule) {
        case Rule::create:
            return "create";
        case Rule::add_direct:
            return "add-direct";
        case Rule::add_shuffle:
            return "add-shuffle";
        case Rule::chain_1:
            return "chain1";
        case Rule::chain_2:
            return "chain2";
        case Rule::in_branch:
            return "in-branch";
        case Rule::split_1:
            return "split1";
        case Rule::split_2:
            return "split2";
        case Rule::split_3:
            return "split3";
        case Rule::split_no_effect:
            return "split-noeffect";
        case Rule::merge_independent:
            return "merge-ind";
        case Rule::merge_1:
            return "merge1";
        case Rule::merge_2:
            return "merge2";
        case Rule::merge_3:
            return "merge3";
        case Rule::merge_4:
            return "merge4";
        case Rule::merge_no_effect:
            return "merge-noeffect";
    }
    return "?";
}

std::string_view to_string(Refusal refusal) noexcept {
    switch (refusal) {
        case Refusal::closed:
            return "nothing can follow a sink";
        case Refusal::not_a_matryoshka:
            return "not a Matryoshka";
        case Refusal::not_a_multipipe:
            return "not a MultiPipe";
        case Refusal::not_rightmost:
            return "not one of the rightmost Matryoshkas";
        case Refusal::already_routed:
            return "already split or merged";
        case Refusal::source_inside:
            return "a source can only begin a graph";
        case Refusal::no_replicas:
            return "an operator needs at least one replica";
        case Refusal::inadmissible:
            return "this operator does not admit that distribution";
        case Refusal::duplicate_name:
            return "two operators have the same name";
        case Refusal::too_few_branches:
            return "a split needs at least two branches";
        case Refusal::too_few_to_merge:
            return "a merge needs at least two streams";
    }
    return "?";
}

}  // namespace strid::block
