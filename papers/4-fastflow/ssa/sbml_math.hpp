// SPDX-License-Identifier: Apache-2.0
//
// MathML of libSBML as an expression. Functions without state; any thread.
#pragma once

#include <functional>
#include <string>

#include <sbml/SBMLTypes.h>

#include "distribution.hpp"
#include "expression.hpp"

LIBSBML_CPP_NAMESPACE_USE

namespace strid::ssa {

/// The expressions of names, and of the time.
struct Meaning {
    std::function<Expression(const std::string&)> name;
    Expression time;
    /// A random number; empty: there is none here.
    std::function<Expression(Distribution, std::vector<Expression>)> draw = {};
};

/// Throws GraphError for what has no meaning here: delays, rates of change, functions that the
/// model does not define; and above 10,000 operands.
[[nodiscard]] Expression expression_of(const ASTNode& node, const Meaning& meaning);

}  // namespace strid::ssa
