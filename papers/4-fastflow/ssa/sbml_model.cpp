// SPDX-License-Identifier: Apache-2.0
//
// A model of libSBML as a network. Species are amounts (numbers of molecules); where the model
// means a concentration, its math reads the count divided by the size of the compartment.
#include "sbml_model.hpp"

#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <sbml/extension/SBasePlugin.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "sbml_limits.hpp"
#include "sbml_math.hpp"

namespace strid::ssa {

namespace {

/// Thrown where the value of a name is not known yet.
struct NotYetKnown {};

class SbmlModel {
  public:
    SbmlModel(const std::string& path, const Model& model) : path_(path), model_(model) {}

    [[nodiscard]] Network read() {
        refuse_unsupported();
        read_values();
        assign_initially();
        for (unsigned i = 0; i < model_.getNumSpecies(); ++i) add_species(*model_.getSpecies(i));
        for (unsigned i = 0; i < model_.getNumReactions(); ++i) {
            add_reaction(*model_.getReaction(i));
        }
        return std::move(network_);
    }

  private:
    [[noreturn]] void fail(const SBase& element, const std::string& what) const {
        throw InputOutputError(fmt::format("{}:{}: {}", path_, element.getLine(), what));
    }
    /// An exception of `make` about math gets the line of the element.
    template <class Make>
    auto at(const SBase& element, const Make& make) const {
        try {
            return make();
        } catch (const GraphError& error) {
            fail(element, error.what());
        }
    }

    void refuse_unsupported() const {
        if (model_.getNumEvents() != 0) fail(*model_.getEvent(0), "events are not supported");
        if (model_.getNumRules() != 0) fail(*model_.getRule(0), "rules are not supported");
        if (model_.getNumConstraints() != 0) {
            fail(*model_.getConstraint(0), "constraints are not supported");
        }
        if (model_.isSetConversionFactor()) {
            fail(model_, "conversion factors are not supported");
        }
    }

    void read_values() {
        for (unsigned i = 0; i < model_.getNumInitialAssignments(); ++i) {
            pending_.insert(model_.getInitialAssignment(i)->getSymbol());
        }
        for (unsigned i = 0; i < model_.getNumCompartments(); ++i) {
            const Compartment& one = *model_.getCompartment(i);
            values_[one.getId()] = one.isSetSize() ? one.getSize() : 1;
        }
        for (unsigned i = 0; i < model_.getNumParameters(); ++i) {
            const Parameter& one = *model_.getParameter(i);
            if (!one.isSetValue() && !pending_.contains(one.getId())) continue;
            values_[one.getId()] = one.getValue();
        }
    }

    /// The numbers that names have at time 0. Assignments may read each other, in any order.
    void assign_initially() {
        while (!pending_.empty()) {
            const std::size_t before = pending_.size();
            for (unsigned i = 0; i < model_.getNumInitialAssignments(); ++i) {
                try_assignment(*model_.getInitialAssignment(i));
            }
            if (pending_.size() == before) {
                fail(*model_.getInitialAssignment(*pending_.begin()),
                     "an initial assignment depends on itself");
            }
        }
    }
    void try_assignment(const InitialAssignment& assignment) {
        const std::string& symbol = assignment.getSymbol();
        if (!pending_.contains(symbol)) return;
        if (!assignment.isSetMath()) fail(assignment, "an initial assignment without math");
        try {
            const Expression value = at(assignment, [&] {
                return expression_of(*assignment.getMath(), [this](const std::string& name) {
                    return constant(initial_value(name));
                });
            });
            values_[symbol] = value.value;
            pending_.erase(symbol);
        } catch (const NotYetKnown&) {  // in a later round
        }
    }
    [[nodiscard]] double initial_value(const std::string& name) const {
        if (pending_.contains(name)) throw NotYetKnown();
        if (const auto known = values_.find(name); known != values_.end()) return known->second;
        const ::Species* const species = species_named(name);
        if (species == nullptr) unknown(name);
        return species->getHasOnlySubstanceUnits() ? initial_amount(*species)
                                                   : initial_amount(*species) / size_of(*species);
    }
    [[noreturn]] void unknown(const std::string& name) const {
        std::vector<std::string> known;
        for (const auto& [id, value] : values_) known.push_back(id);
        for (unsigned i = 0; i < model_.getNumSpecies(); ++i) {
            known.push_back(model_.getSpecies(i)->getId());
        }
        throw GraphError(
            fmt::format("'{}' has no value in the model{}", name, suggestion(name, known)));
    }

    /// The one of the model, not that of this namespace.
    [[nodiscard]] const ::Species* species_named(const std::string& name) const {
        return model_.getSpecies(name);
    }
    [[nodiscard]] double size_of(const ::Species& species) const {
        const std::string& compartment = species.getCompartment();
        if (pending_.contains(compartment)) throw NotYetKnown();
        const auto size = values_.find(compartment);
        if (size == values_.end()) {
            fail(species, fmt::format("unknown compartment '{}'", compartment));
        }
        return size->second;
    }
    [[nodiscard]] double initial_amount(const ::Species& species) const {
        if (const auto known = values_.find(species.getId()); known != values_.end()) {
            // By an initial assignment, in the unit that its math has.
            return species.getHasOnlySubstanceUnits() ? known->second
                                                      : known->second * size_of(species);
        }
        if (species.isSetInitialAmount()) return species.getInitialAmount();
        if (species.isSetInitialConcentration()) {
            return species.getInitialConcentration() * size_of(species);
        }
        fail(species, fmt::format("species '{}' has no initial amount", species.getId()));
    }

    void add_species(const ::Species& species) {
        const std::string& name = species.getId();
        if (species.isSetConversionFactor()) {
            fail(species, "conversion factors are not supported");
        }
        const double amount = initial_amount(species);
        if (amount < 0) {
            fail(species, fmt::format("the initial amount of '{}' is negative: {}", name, amount));
        }
        // 0.1 * 30 is not 3: a product may be rounded. Nothing rounds to no molecules: so small an
        // amount is one of moles.
        const double count = std::round(amount);
        if (!(std::fabs(amount - count) <= 1e-9 * count) || count > count_max) {
            fail(species, fmt::format("the initial amount of '{}' is no whole number of molecules "
                                      "up to {}: {}",
                                      name, count_max, amount));
        }
        if (!numbers_.emplace(name, network_.species.size()).second) {
            fail(species, fmt::format("species '{}' is given twice", name));
        }
        network_.species.push_back(
            {name, count, species.getBoundaryCondition() || species.getConstant()});
    }

    [[nodiscard]] std::vector<Term> terms_of(const ListOfSpeciesReferences& references) const {
        std::vector<Term> terms;
        for (unsigned i = 0; i < references.size(); ++i) {
            const auto& one = dynamic_cast<const SpeciesReference&>(*references.get(i));
            if (one.isSetStoichiometryMath()) {
                fail(one, "math of a stoichiometry is not supported");
            }
            double times = one.getStoichiometry();
            if (one.isSetId() && values_.contains(one.getId())) times = values_.at(one.getId());
            if (!(times >= 0 && times == std::floor(times) &&
                  times <= static_cast<double>(stoichiometry_max))) {
                fail(one, fmt::format("the stoichiometry of '{}' is no whole number from 0 on: {}",
                                      one.getSpecies(), times));
            }
            const auto number = numbers_.find(one.getSpecies());
            if (number == numbers_.end()) {
                fail(one, fmt::format("unknown species '{}'", one.getSpecies()));
            }
            if (times == 0) continue;
            at(one, [&] {
                add_term(terms, number->second, static_cast<std::int64_t>(times));
                return true;
            });
        }
        return terms;
    }

    void add_reaction(const ::Reaction& reaction) {
        const std::string& name = reaction.getId();
        if (reaction.isSetFast() && reaction.getFast()) {
            fail(reaction, fmt::format("reaction '{}' is fast, which is not supported", name));
        }
        const KineticLaw* const law = reaction.getKineticLaw();
        if (law == nullptr || !law->isSetMath()) {
            fail(reaction, fmt::format("reaction '{}' has no kinetic law", name));
        }
        std::map<std::string, double> own;
        for (unsigned i = 0; i < law->getNumParameters(); ++i) {
            const Parameter& one = *law->getParameter(i);
            if (one.isSetValue()) own[one.getId()] = one.getValue();
        }
        Expression rate = at(*law, [&] {
            return expression_of(*law->getMath(), [&](const std::string& symbol) {
                if (const auto known = own.find(symbol); known != own.end()) {
                    return constant(known->second);
                }
                return symbol_in_rate(symbol);
            });
        });
        network_.reactions.push_back({name, terms_of(*reaction.getListOfReactants()),
                                      terms_of(*reaction.getListOfProducts()), 0, std::move(rate)});
    }
    [[nodiscard]] Expression symbol_in_rate(const std::string& symbol) const {
        if (const auto number = numbers_.find(symbol); number != numbers_.end()) {
            const ::Species& species = *species_named(symbol);
            if (species.getHasOnlySubstanceUnits()) return count_of(number->second);
            return combine(Operation::divide, count_of(number->second), constant(size_of(species)));
        }
        if (const auto known = values_.find(symbol); known != values_.end()) {
            return constant(known->second);
        }
        unknown(symbol);
    }

    const std::string& path_;
    const Model& model_;
    Network network_;
    std::map<std::string, double> values_;  // of names that are no species, or assigned initially
    std::set<std::string> pending_;         // initial assignments that are not done
    std::map<std::string, std::size_t> numbers_;  // of species
};

/// The first error of the library, in one line.
void check_document(const std::string& path, const SBMLDocument& document) {
    for (unsigned i = 0; i < document.getNumErrors(); ++i) {
        const SBMLError& error = *document.getError(i);
        if (error.getSeverity() < LIBSBML_SEV_ERROR) continue;
        std::string what = error.getMessage();
        for (char& mark : what) {
            if (mark == '\n' || mark == '\r') mark = ' ';
        }
        while (what.ends_with(' ')) what.pop_back();
        throw InputOutputError(fmt::format("{}:{}: {}", path, error.getLine(), what));
    }
}

void check_packages(const std::string& path, SBMLDocument& document) {
    for (unsigned i = 0; i < document.getNumPlugins(); ++i) {
        const std::string& package = document.getPlugin(i)->getPackageName();
        if (package == "l3v2extendedmath" || !document.getPackageRequired(package)) continue;
        throw InputOutputError(fmt::format(
            "{}: the model needs the package '{}', which is not supported", path, package));
    }
}

}  // namespace

bool reads_sbml() noexcept {
    return true;
}

Network read_sbml_model(const std::string& path, const std::string& text) {
    check_nesting(path, text);
    const std::unique_ptr<SBMLDocument> document(readSBMLFromString(text.c_str()));
    check_document(path, *document);
    if (document->getLevel() != 2 && document->getLevel() != 3) {
        throw InputOutputError(fmt::format("{}: SBML of level {}; levels 2 and 3 are supported",
                                           path, document->getLevel()));
    }
    if (document->getLevel() == 3) check_packages(path, *document);
    if (document->getModel() == nullptr) {
        throw InputOutputError(fmt::format("{}: there is no model in it", path));
    }
    check_expansion(path, *document->getModel());
    if (document->getModel()->getNumFunctionDefinitions() != 0 &&
        !document->expandFunctionDefinitions()) {
        check_document(path, *document);
        throw InputOutputError(
            fmt::format("{}: the function definitions of the model cannot be expanded", path));
    }
    return SbmlModel(path, *document->getModel()).read();
}

}  // namespace strid::ssa
