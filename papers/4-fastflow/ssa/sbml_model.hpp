// SPDX-License-Identifier: Apache-2.0
//
// Models in the Systems Biology Markup Language, levels 2 and 3 (core), read by libSBML. Built
// without the library, SBML is refused with a message. Functions without state; any thread.
#pragma once

#include <string>

#include "network.hpp"

namespace strid::ssa {

/// True where SBML can be read.
[[nodiscard]] bool reads_sbml() noexcept;

/// `path` is for messages. Throws InputOutputError, with the line of the element that is wrong or
/// that has no meaning here: algebraic rules, delays in math, constraints, fast reactions.
[[nodiscard]] Network read_sbml_model(const std::string& path, const std::string& text);

}  // namespace strid::ssa
