// SPDX-License-Identifier: Apache-2.0
//
// Figures 9 and 10: split and merge. Both descend the right-hand sides of the A2As towards the
// rightmost Matryoshkas, and rebuild only the path they went.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/engine/block/grammar.hpp>
#include <strid/engine/block/rules.hpp>
#include <strid/engine/block/utility.hpp>

#include "joined_terms.hpp"
#include "rule_support.hpp"

namespace strid::block {

namespace {

// The first production of grammar (2), A2A([G_i], Gl), against the second, A2A(Gr, [G_i]).
bool grows_inside_right(const ParallelBlock& block) {
    return branches_of(block.right()).size() == 1 && is_left_closed(block.right());
}

std::vector<ParallelBlock> rightmost_of(const ParallelBlock& block) {
    return MultiPipe::view(block)->rightmost();
}

// Seq(f_s) then the chosen branch's Seq(f_d), in one node behind the operator that is split.
SequentialBlock split_router(const ParallelBlock& matryoshka,
                             const std::vector<OperatorDescriptor>& branches) {
    std::vector<SequentialBlock> distributions;
    for (const OperatorDescriptor& branch : branches) {
        distributions.push_back(seq(distribution_of(branch)));
    }
    const std::string name = Matryoshka::view(matryoshka)->last_operator_name();
    return fan_out(seq(splitting_after(name)), std::move(distributions));
}

struct SplitRequest {
    const ParallelBlock& matryoshka;
    const std::vector<OperatorDescriptor>& branches;
    ShuffleComposition composition;
};

ParallelBlock split_here(const SplitRequest& request) {
    std::vector<ParallelBlock> seeds;
    for (const OperatorDescriptor& branch : request.branches) {
        seeds.push_back(detail::new_seed(branch));
    }
    return all_to_all(
        detail::with_router(request.matryoshka, split_router(request.matryoshka, request.branches),
                            request.composition),
        container(std::move(seeds)));
}

ParallelBlock split_term(const ParallelBlock& block, const SplitRequest& request,
                         std::vector<Rule>& rules) {
    if (is_matryoshka(block)) {
        rules.push_back(Rule::split_3);
        return split_here(request);
    }
    rules.push_back(grows_inside_right(block) ? Rule::split_1 : Rule::split_2);
    std::vector<ParallelBlock> branches = branches_of(block.right());
    for (ParallelBlock& branch : branches) {
        if (detail::contains(rightmost_of(branch), request.matryoshka)) {
            branch = split_term(branch, request, rules);
        }
    }
    return all_to_all(block.left(), container(std::move(branches)));
}

struct MergeRequest {
    const std::vector<ParallelBlock>& matryoshkas;
    const OperatorDescriptor& descriptor;
    const std::vector<RoutedApart>& apart;
};

enum class Involvement : std::uint8_t { none, partial, whole };

// How many of the branch's rightmost Matryoshkas are to be merged.
Involvement involvement(const ParallelBlock& branch, const MergeRequest& request) {
    const std::vector<ParallelBlock> ends = rightmost_of(branch);
    const auto involved = std::count_if(ends.begin(), ends.end(), [&](const ParallelBlock& end) {
        return detail::contains(request.matryoshkas, end);
    });
    if (involved == 0) return Involvement::none;
    const bool whole = static_cast<std::size_t>(involved) == ends.size();
    return whole ? Involvement::whole : Involvement::partial;
}

ShuffleComposition composition_of(const ParallelBlock& end, const std::vector<RoutedApart>& apart) {
    const auto found = std::find_if(apart.begin(), apart.end(), [&end](const RoutedApart& one) {
        return one.matryoshka == end;
    });
    return found == apart.end() ? ShuffleComposition::combined : found->composition;
}

ParallelBlock unite(std::vector<ParallelBlock> streams, const OperatorDescriptor& descriptor,
                    const std::vector<RoutedApart>& apart) {
    const SequentialBlock distribution = seq(distribution_of(descriptor));
    for (ParallelBlock& stream : streams) {
        for (const ParallelBlock& end : rightmost_of(stream)) {
            const ShuffleComposition composition = composition_of(end, apart);
            stream =
                detail::exchange(stream, end, detail::with_router(end, distribution, composition));
        }
    }
    return all_to_all(container(std::move(streams)), detail::new_seed(descriptor));
}

// merge4: the involved siblings move into a new MultiPipe, which takes the place of the first.
ParallelBlock merge_siblings(const ParallelBlock& block, const MergeRequest& request) {
    std::vector<ParallelBlock> united;
    std::vector<ParallelBlock> kept;
    std::size_t place = 0;
    for (const ParallelBlock& branch : branches_of(block.right())) {
        if (involvement(branch, request) == Involvement::none) {
            kept.push_back(branch);
        } else {
            if (united.empty()) place = kept.size();
            united.push_back(branch);
        }
    }
    kept.insert(kept.begin() + static_cast<std::ptrdiff_t>(place),
                unite(std::move(united), request.descriptor, request.apart));
    return all_to_all(block.left(), container(std::move(kept)));
}

ParallelBlock merge_term(const ParallelBlock& block, const MergeRequest& request,
                         std::vector<Rule>& rules) {
    // A lone Matryoshka, or branches of which only a part is named: not supported by the paper.
    const auto unsupported = [&] {
        rules.push_back(Rule::merge_3);
        return block;
    };
    if (is_matryoshka(block)) return unsupported();
    std::vector<ParallelBlock> branches = branches_of(block.right());
    std::vector<std::size_t> involved;
    bool all_whole = true;
    for (std::size_t index = 0; index < branches.size(); ++index) {
        const Involvement how = involvement(branches[index], request);
        if (how == Involvement::none) continue;
        involved.push_back(index);
        all_whole = all_whole && how == Involvement::whole;
    }
    if (involved.size() == 1) {
        rules.push_back(grows_inside_right(block) ? Rule::merge_1 : Rule::merge_2);
        ParallelBlock& inner = branches[involved.front()];
        inner = merge_term(inner, request, rules);
        return all_to_all(block.left(), container(std::move(branches)));
    }
    if (!all_whole) return unsupported();
    rules.push_back(Rule::merge_4);
    return merge_siblings(block, request);
}

std::optional<Refusal> refuse_merge_operands(const std::vector<ParallelBlock>& ends) {
    for (const ParallelBlock& end : ends) {
        const std::optional<Matryoshka> matryoshka = Matryoshka::view(end);
        if (!matryoshka) return Refusal::not_a_matryoshka;
        if (matryoshka->closed()) return Refusal::closed;
        if (!matryoshka->last_operator()) return Refusal::already_routed;
    }
    return std::nullopt;
}

std::string last_names(const std::vector<ParallelBlock>& ends) {
    std::vector<std::string> names;
    for (const ParallelBlock& end : ends) {
        names.push_back(Matryoshka::view(end)->last_operator_name());
    }
    return detail::join(names, ", ");
}

}  // namespace

RuleOutcome split(const ParallelBlock& multipipe, const ParallelBlock& matryoshka,
                  const std::vector<OperatorDescriptor>& branches, ShuffleComposition composition) {
    if (!is_multipipe(multipipe)) return Refusal::not_a_multipipe;
    const std::optional<Matryoshka> view = Matryoshka::view(matryoshka);
    if (!view) return Refusal::not_a_matryoshka;
    if (branches.size() < 2) return Refusal::too_few_branches;
    if (const auto refusal = detail::refuse_operator(branches, {multipipe})) return *refusal;

    std::vector<std::string> names;
    for (const OperatorDescriptor& branch : branches) names.push_back(detail::describe(branch));
    Transition transition{.operation = fmt::format("split {} into {}", view->last_operator_name(),
                                                   detail::join(names, ", ")),
                          .rules = {},
                          .before = {multipipe},
                          .after = multipipe};
    if (view->closed() || !detail::contains(rightmost_of(multipipe), matryoshka)) {
        transition.rules = {Rule::split_no_effect};
        return transition;
    }
    if (!view->last_operator()) return Refusal::already_routed;
    transition.after = split_term(multipipe, {matryoshka, branches, composition}, transition.rules);
    return transition;
}

RuleOutcome merge_independent(const std::vector<ParallelBlock>& multipipes,
                              const OperatorDescriptor& descriptor,
                              const std::vector<RoutedApart>& apart) {
    if (multipipes.size() < 2) return Refusal::too_few_to_merge;
    std::vector<ParallelBlock> ends;
    for (const ParallelBlock& multipipe : multipipes) {
        if (!is_multipipe(multipipe)) return Refusal::not_a_multipipe;
        for (ParallelBlock& end : rightmost_of(multipipe)) ends.push_back(std::move(end));
    }
    if (const auto refusal = refuse_merge_operands(ends)) return *refusal;
    if (const auto refusal = detail::refuse_operator({descriptor}, multipipes)) return *refusal;
    return Transition{.operation = fmt::format("merge {} into {}", last_names(ends),
                                               detail::describe(descriptor)),
                      .rules = {Rule::merge_independent},
                      .before = multipipes,
                      .after = unite(multipipes, descriptor, apart)};
}

RuleOutcome merge(const ParallelBlock& multipipe, const std::vector<ParallelBlock>& matryoshkas,
                  const OperatorDescriptor& descriptor, const std::vector<RoutedApart>& apart) {
    if (!is_multipipe(multipipe)) return Refusal::not_a_multipipe;
    std::vector<ParallelBlock> distinct;
    for (const ParallelBlock& block : matryoshkas) {
        if (!detail::contains(distinct, block)) distinct.push_back(block);
    }
    if (distinct.size() < 2) return Refusal::too_few_to_merge;
    if (const auto refusal = refuse_merge_operands(distinct)) return *refusal;
    if (const auto refusal = detail::refuse_operator({descriptor}, {multipipe})) return *refusal;

    Transition transition{.operation = fmt::format("merge {} into {}", last_names(distinct),
                                                   detail::describe(descriptor)),
                          .rules = {},
                          .before = {multipipe},
                          .after = multipipe};
    const std::vector<ParallelBlock> ends = rightmost_of(multipipe);
    const auto present =
        std::count_if(distinct.begin(), distinct.end(),
                      [&](const ParallelBlock& block) { return detail::contains(ends, block); });
    if (present == 0) {
        transition.rules = {Rule::merge_no_effect};
        return transition;
    }
    if (static_cast<std::size_t>(present) != distinct.size()) return Refusal::not_rightmost;
    transition.after = merge_term(multipipe, {distinct, descriptor, apart}, transition.rules);
    return transition;
}

}  // namespace strid::block
