// SPDX-License-Identifier: Apache-2.0
//
// Bounds on SBML before libSBML recurses into it: how deep its elements are nested, and how long
// its math is once function definitions are expanded. A model of a few kilobytes can have math of
// any length: each function doubles that of the one before. Functions without state; any thread.
#pragma once

#include <string>

#include <sbml/SBMLTypes.h>

LIBSBML_CPP_NAMESPACE_USE

namespace strid::ssa {

/// Throws InputOutputError where elements are nested deeper than 1,000. O(text).
void check_nesting(const std::string& path, const std::string& text);

/// Throws InputOutputError where the math of the model, with its function definitions expanded, has
/// more than a million terms, or where a definition calls itself. O(math as it is written).
void check_expansion(const std::string& path, const Model& model);

}  // namespace strid::ssa
