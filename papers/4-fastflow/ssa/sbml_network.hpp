// SPDX-License-Identifier: Apache-2.0
//
// A model of libSBML as a network. Functions without state; any thread.
#pragma once

#include <string>

#include <sbml/SBMLTypes.h>

#include "network.hpp"

LIBSBML_CPP_NAMESPACE_USE

namespace strid::ssa {

/// Of a model whose function definitions are expanded. `path` is for messages. Throws
/// InputOutputError, with the line of the element that is wrong or that has no meaning here.
[[nodiscard]] Network sbml_network(const std::string& path, const Model& model);

}  // namespace strid::ssa
