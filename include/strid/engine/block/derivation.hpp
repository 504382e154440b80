// SPDX-License-Identifier: Apache-2.0
//
// The derivation of a term: the transitions in their order, each on the results of earlier ones.
// `explain()` prints it. It holds values only and owns nothing else.
#pragma once

#include <string>
#include <vector>

#include <strid/engine/block/rules.hpp>

namespace strid::block {

class Derivation {
  public:
    /// Records a transition and returns the term it produced.
    ParallelBlock record(Transition transition);

    /// Records the outcome of a rule and returns its term. Throws GraphError with the reason when
    /// the outcome is a refusal.
    ParallelBlock record(const RuleOutcome& outcome);

    [[nodiscard]] const std::vector<Transition>& steps() const noexcept { return steps_; }

    /// One paragraph for each step: the operation, the rules applied, the terms before and after in
    /// the paper's notation, and how many blocks the new term has.
    [[nodiscard]] std::string explain(Notation notation = Notation::unicode) const;

  private:
    std::vector<Transition> steps_;
};

}  // namespace strid::block
