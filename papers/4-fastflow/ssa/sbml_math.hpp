// SPDX-License-Identifier: Apache-2.0
//
// MathML of libSBML as an expression. Functions without state; any thread.
#pragma once

#include <functional>
#include <string>

#include <sbml/SBMLTypes.h>

#include "expression.hpp"

LIBSBML_CPP_NAMESPACE_USE

namespace strid::ssa {

/// The meaning of a name.
using Meaning = std::function<Expression(const std::string&)>;

/// Throws GraphError for what has no meaning here: time, delays, rates of change, functions that
/// the model does not define.
[[nodiscard]] Expression expression_of(const ASTNode& node, const Meaning& meaning);

}  // namespace strid::ssa
