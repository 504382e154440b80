// SPDX-License-Identifier: Apache-2.0
//
// How many molecules a unit of substance has. Functions without state; any thread.
#pragma once

#include <sbml/SBMLTypes.h>

LIBSBML_CPP_NAMESPACE_USE

namespace strid::ssa {

/// Of the unit of the amounts of a species: Avogadro's number for moles, with the scale of a unit
/// that the model defines; 1 for items and numbers, and where no unit is declared. Throws
/// GraphError for another unit (grams).
[[nodiscard]] double molecules_per_unit(const Model& model, const ::Species& species);

/// Of the unit of the extent of reactions; `otherwise` where it is not declared.
[[nodiscard]] double molecules_per_extent(const Model& model, double otherwise);

}  // namespace strid::ssa
