// SPDX-License-Identifier: Apache-2.0
#include "sbml_units.hpp"

#include <cmath>
#include <string>

#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::ssa {

namespace {

constexpr double avogadro = 6.02214076e23;

/// 0: it cannot be converted.
double molecules_of_kind(UnitKind_t kind) {
    switch (kind) {
        case UNIT_KIND_MOLE:
            return avogadro;
        case UNIT_KIND_ITEM:
        case UNIT_KIND_DIMENSIONLESS:
            return 1;
        default:
            return 0;
    }
}

[[noreturn]] void fail(const std::string& name) {
    throw GraphError(
        fmt::format("the unit of substance '{}' cannot be converted to molecules", name));
}

double molecules_of_unit(const Model& model, const std::string& name) {
    const UnitDefinition* const definition = model.getUnitDefinition(name);
    if (definition == nullptr) {
        if (name == "substance") return 1;  // the default of level 2, which none has declared
        const double molecules = molecules_of_kind(UnitKind_forName(name.c_str()));
        if (molecules == 0) fail(name);
        return molecules;
    }
    if (definition->getNumUnits() == 0) return 1;
    double molecules = 1;
    bool is_substance = false;
    for (unsigned i = 0; i < definition->getNumUnits(); ++i) {
        const Unit& unit = *definition->getUnit(i);
        const double kind = molecules_of_kind(unit.getKind());
        const double exponent = unit.getExponentAsDouble();
        if (kind == 0 || (unit.getKind() != UNIT_KIND_DIMENSIONLESS && exponent != 1)) fail(name);
        if (is_substance && unit.getKind() != UNIT_KIND_DIMENSIONLESS) fail(name);
        is_substance = is_substance || unit.getKind() != UNIT_KIND_DIMENSIONLESS;
        molecules *=
            kind * std::pow(unit.getMultiplier() * std::pow(10, unit.getScale()), exponent);
    }
    return molecules;
}

}  // namespace

double molecules_per_unit(const Model& model, const ::Species& species) {
    if (species.isSetSubstanceUnits()) return molecules_of_unit(model, species.getSubstanceUnits());
    if (model.isSetSubstanceUnits()) return molecules_of_unit(model, model.getSubstanceUnits());
    const bool is_level_2 = model.getLevel() == 2;
    return is_level_2 ? molecules_of_unit(model, "substance") : 1;
}

double molecules_per_extent(const Model& model, double otherwise) {
    return model.isSetExtentUnits() ? molecules_of_unit(model, model.getExtentUnits()) : otherwise;
}

}  // namespace strid::ssa
