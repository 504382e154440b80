// SPDX-License-Identifier: Apache-2.0
//
// Records transitions, and lays out the explanation.
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/block/derivation.hpp>

#include "joined_terms.hpp"

namespace strid::block {

ParallelBlock Derivation::record(Transition transition) {
    steps_.push_back(std::move(transition));
    return steps_.back().after;
}

ParallelBlock Derivation::record(const RuleOutcome& outcome) {
    if (!outcome) throw GraphError(std::string(to_string(outcome.refusal())));
    return record(outcome.transition());
}

std::string Derivation::explain(Notation notation) const {
    std::string text;
    std::size_t number = 0;
    for (const Transition& step : steps_) {
        std::vector<std::string> rules;
        for (const Rule rule : step.rules) rules.emplace_back(to_string(rule));
        text += fmt::format("{}. {}\n   rule    {}\n", ++number, step.operation,
                            detail::join(rules, notation == Notation::unicode ? " › " : " > "));
        for (const ParallelBlock& term : step.before) {
            text += fmt::format("   before  {}\n", to_string(term, notation));
        }
        text += fmt::format("   after   {}\n   blocks  {}\n",
                            step.changed() ? to_string(step.after, notation) : "unchanged",
                            to_string(counts(step.after)));
    }
    return text;
}

}  // namespace strid::block
