// SPDX-License-Identifier: Apache-2.0
//
// A model of libSBML as a network. Species are numbers of molecules; where the model means moles or
// a concentration, its math reads the count in this unit.
//
// Amounts in moles may be of more molecules than can be counted. The reactions that change or read
// them are rate equations then, and their species quantities that change all the time.
#include "sbml_network.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "rate_directions.hpp"
#include "sbml_names.hpp"
#include "sbml_units.hpp"

namespace strid::ssa {

namespace {

/// Beyond so many molecules noise is below 3e-8 of an amount, and events are not counted.
constexpr double molecules_max = count_max;
/// How much an amount in moles is rounded to a number of molecules, as a part of it.
constexpr double rounding_max = 0.05;
/// Of all expressions of a network.
constexpr std::size_t network_length_max = 4'000'000;
/// The error of an integration that is none: of molecules in moles, of other quantities.
constexpr double smallest_part = 1e-3;
constexpr double smallest_number = 1e-15;

class SbmlModel {
  public:
    SbmlModel(const std::string& path, const Model& model)
        : model_(model), names_(path, model), is_reacting_(names_.quantities().size()) {}

    [[nodiscard]] Network read() {
        refuse_unsupported();
        for (unsigned i = 0; i < model_.getNumReactions(); ++i) read_flux(*model_.getReaction(i));
        for (unsigned i = 0; i < model_.getNumEvents(); ++i) {
            const ::Event& event = *model_.getEvent(i);
            for (unsigned k = 0; k < event.getNumEventAssignments(); ++k) {
                set_by_events_.insert(event.getEventAssignment(k)->getVariable());
            }
        }
        add_quantities();
        for (unsigned i = 0; i < model_.getNumEvents(); ++i) add_event(*model_.getEvent(i));
        find_continuous();
        for (const Flux& flux : fluxes_) {
            if (flux.is_continuous) {
                add_rates(flux);
            } else {
                add_reactions(flux);
            }
        }
        for (auto& [number, terms] : rates_) {
            network_.rates.push_back({number, sum_of(std::move(terms))});
        }
        return std::move(network_);
    }

  private:
    /// A reaction: how it changes amounts, in molecules for each of its extent.
    struct Side {
        std::size_t species;
        Expression times;
        const SBase* element;
        bool is_product;
    };
    struct Flux {
        const ::Reaction* reaction;
        Expression rate;  ///< in molecules of extent
        std::vector<Side> sides;
        bool is_continuous = false;
    };

    void refuse_unsupported() const {
        if (model_.getNumConstraints() != 0) {
            names_.fail(*model_.getConstraint(0), "constraints are not supported");
        }
    }

    /// A small model may say that a long expression is read everywhere.
    [[nodiscard]] Expression counted(Expression made) {
        length_ += size(made);
        if (length_ > network_length_max) {
            names_.fail(model_, fmt::format("the rules and rates of the model have more than {} "
                                            "terms when what they read is put in its place",
                                            network_length_max));
        }
        return made;
    }

    // Reactions, as the model has them.

    [[nodiscard]] const ::Species& species_of(const SBase& element, const std::string& name) const {
        const ::Species* const species = model_.getSpecies(name);
        if (species == nullptr) names_.fail(element, fmt::format("unknown species '{}'", name));
        return *species;
    }
    [[nodiscard]] Expression conversion_of(const ::Species& species) const {
        const bool own = species.isSetConversionFactor();
        if (!own && !model_.isSetConversionFactor()) return constant(1);
        const std::string& name =
            own ? species.getConversionFactor() : model_.getConversionFactor();
        return names_.at(species, [&] { return names_.value(name); });
    }
    [[nodiscard]] Expression stoichiometry_of(const SpeciesReference& one) const {
        if (one.isSetStoichiometryMath() && one.getStoichiometryMath()->isSetMath()) {
            return names_.math(one, *one.getStoichiometryMath()->getMath());
        }
        if (one.isSetId()) return names_.at(one, [&] { return names_.value(one.getId()); });
        return constant(one.getStoichiometry());
    }
    void read_sides(const ListOfSpeciesReferences& references, bool is_product, double extent,
                    Flux& flux) {
        for (unsigned i = 0; i < references.size(); ++i) {
            const auto& one = dynamic_cast<const SpeciesReference&>(*references.get(i));
            const ::Species& species = species_of(one, one.getSpecies());
            Expression times =
                combine(Operation::multiply,
                        combine(Operation::multiply, stoichiometry_of(one), conversion_of(species)),
                        constant(names_.molecules(species) / extent));
            const std::size_t number = names_.number_of(species.getId());
            flux.sides.push_back({number, counted(std::move(times)), &one, is_product});
            is_reacting_[number] = !species.getBoundaryCondition() && !species.getConstant();
        }
    }
    void read_flux(const ::Reaction& reaction) {
        if (reaction.isSetFast() && reaction.getFast()) {
            names_.fail(reaction, fmt::format("reaction '{}' is fast, which is not supported",
                                              reaction.getId()));
        }
        double unit = 1;  // of the first of its species
        for (const auto* const list :
             {reaction.getListOfProducts(), reaction.getListOfReactants()}) {
            if (list->size() != 0) {
                unit = names_.molecules(species_of(reaction, list->get(0)->getSpecies()));
            }
        }
        unit = names_.at(reaction, [&] { return molecules_per_extent(model_, unit); });
        Flux flux{
            &reaction, combine(Operation::multiply, names_.rate(reaction), constant(unit)), {}};
        read_sides(*reaction.getListOfReactants(), false, unit, flux);
        read_sides(*reaction.getListOfProducts(), true, unit, flux);
        fluxes_.push_back(std::move(flux));
    }

    // Quantities.

    void add_quantities() {
        for (const std::string& name : names_.quantities()) {
            const ::Species* const species = model_.getSpecies(name);
            double value = names_.initial(name);
            if (species != nullptr) {
                value = initial_molecules(*species, value);
            } else {
                network_.species.push_back({name, value, true, true});
            }
            if (std::isnan(value) && names_.assignment_of(name) == nullptr) {
                names_.fail(species != nullptr ? static_cast<const SBase&>(*species) : model_,
                            fmt::format("'{}' has no initial {}", name,
                                        species != nullptr ? "amount" : "value"));
            }
            add_rules(name, species);
        }
    }
    [[nodiscard]] double initial_molecules(const ::Species& species, double value) {
        value = names_
                    .in_molecules(species, constant(value),
                                  constant(names_.initial(species.getCompartment())))
                    .value;
        const std::string& name = species.getId();
        const std::size_t number = network_.species.size();
        const bool has_rule =
            names_.assignment_of(name) != nullptr || names_.rate_of(name) != nullptr;
        const bool in_moles = names_.molecules(species) != 1;
        const double count = std::round(value);
        const double rounds_by = in_moles ? rounding_max : 1e-9;
        const bool is_count =
            count >= 0 && count <= count_max && std::fabs(value - count) <= rounds_by * count;
        const bool is_read_only = species.getBoundaryCondition() || species.getConstant();
        const bool is_set = set_by_events_.contains(name);
        const bool real = has_rule || (!is_reacting_[number] && is_set) ||
                          (is_read_only && !is_count) || (in_moles && value > molecules_max);
        network_.species.push_back({name, real ? value : count, !is_reacting_[number], real,
                                    rounds_by, in_moles ? smallest_part : smallest_number});
        if (real || std::isnan(value)) return value;
        if (value < 0) {
            names_.fail(species,
                        fmt::format("the initial amount of '{}' is negative: {}", name, value));
        }
        // 0.1 * 30 is not 3: a product may be rounded. Nothing rounds to no molecules.
        if (!is_count) {
            names_.fail(species, fmt::format("the initial amount of '{}' is no whole number of "
                                             "molecules up to {}: {}",
                                             name, count_max, value));
        }
        return value;
    }
    [[nodiscard]] Expression size_of(const ::Species& species) const {
        return names_.at(species, [&] { return names_.value(species.getCompartment()); });
    }
    void add_rules(const std::string& name, const ::Species* species) {
        const std::size_t number = names_.number_of(name);
        if (names_.assignment_of(name) != nullptr) {
            Expression value = names_.value(name);
            if (species != nullptr) {
                value = names_.in_molecules(*species, std::move(value), size_of(*species));
            }
            network_.assigned.push_back({number, counted(std::move(value))});
        }
        const Rule* const rule = names_.rate_of(name);
        if (rule == nullptr) return;
        Expression rate = names_.math(*rule, *rule->getMath());
        if (species != nullptr) {
            rate = names_.in_molecules(*species, std::move(rate), size_of(*species));
            if (names_.is_concentration(*species)) add_dilution(*rule, *species, rate);
        }
        rates_[number].push_back(counted(std::move(rate)));
    }
    /// A rate of a concentration is that of the amount by a size that changes, too.
    void add_dilution(const Rule& rule, const ::Species& species, Expression& rate) const {
        const std::string& compartment = species.getCompartment();
        if (names_.assignment_of(compartment) != nullptr) {
            names_.fail(rule, fmt::format("a rate of '{}', whose compartment has an assignment "
                                          "rule, is not supported",
                                          species.getId()));
        }
        const Rule* const growth = names_.rate_of(compartment);
        if (growth == nullptr) return;
        rate = combine(Operation::add, std::move(rate),
                       names_.in_molecules(species, names_.value(species.getId()),
                                           names_.math(*growth, *growth->getMath())));
    }

    // Which reactions are continuous.

    [[nodiscard]] bool is_continuous(const Flux& flux) const {
        const auto is_large = [this](std::size_t number) { return large_.contains(number); };
        if (std::ranges::any_of(species_read(flux.rate), is_large)) return true;
        return std::ranges::any_of(flux.sides, [&](const Side& side) {
            return is_large(side.species) && !network_.species[side.species].fixed;
        });
    }
    /// Amounts in moles may be of more molecules than are counted: what changes or reads them is
    /// the rate equation, and what it changes is large, too.
    void find_continuous() {
        std::vector<double> now;
        for (const Species& one : network_.species) now.push_back(one.initial);
        now.push_back(0);
        for (std::size_t i = 0; i + 1 < now.size(); ++i) {
            if (in_moles(i) && std::fabs(now[i]) > molecules_max) large_.insert(i);
        }
        for (const Event& event : network_.events) {
            for (const Setting& one : event.settings) {
                if (!in_moles(one.species)) continue;
                const double factor = at_begin(one.factor.value_or(constant(1)), now);
                if (!(at_begin(one.value, now) * factor > molecules_max)) continue;
                large_.insert(one.species);
                network_.species[one.species].real = true;
            }
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (Flux& flux : fluxes_) {
                if (flux.is_continuous) continue;
                const bool is_fast =
                    std::ranges::any_of(
                        flux.sides, [this](const Side& side) { return in_moles(side.species); }) &&
                    std::fabs(at_begin(flux.rate, now)) > molecules_max;
                if (!is_fast && !is_continuous(flux)) continue;
                flux.is_continuous = true;
                changed = true;
                for (const Side& side : flux.sides) {
                    if (network_.species[side.species].fixed) continue;
                    large_.insert(side.species);
                    network_.species[side.species].real = true;
                }
            }
        }
    }
    [[nodiscard]] bool in_moles(std::size_t number) const {
        const ::Species* const species = model_.getSpecies(network_.species[number].name);
        return species != nullptr && names_.molecules(*species) != 1;
    }
    [[nodiscard]] double at_begin(const Expression& value, const std::vector<double>& now) const {
        return names_.at(model_, [&] { return CompiledRate(value).at(now.data()); });
    }

    // Reactions and rates of the network.

    void add_rates(const Flux& flux) {
        for (const Side& side : flux.sides) {
            if (network_.species[side.species].fixed) continue;
            Expression change = combine(Operation::multiply, side.times, flux.rate);
            if (!side.is_product) change = call(function_named("negate"), std::move(change));
            rates_[side.species].push_back(counted(std::move(change)));
        }
    }
    [[nodiscard]] std::int64_t whole_times(const Side& side) const {
        const double times = side.times.is_constant() ? std::round(side.times.value) : -1;
        const std::string& name = network_.species[side.species].name;
        if (!side.times.is_constant()) {
            names_.fail(
                *side.element,
                fmt::format("the stoichiometry of '{}' changes, which is not supported", name));
        }
        if (!(times >= 0 && std::fabs(times - side.times.value) <= 1e-9 * times &&
              times <= static_cast<double>(stoichiometry_max))) {
            names_.fail(*side.element,
                        fmt::format("the stoichiometry of '{}' is no whole number from 0 on: {}",
                                    name, side.times.value));
        }
        return static_cast<std::int64_t>(times);
    }
    void add_reactions(const Flux& flux) {
        Reaction made{flux.reaction->getId(), {}, {}, 0, flux.rate};
        for (const Side& side : flux.sides) {
            const std::int64_t times = whole_times(side);
            if (times == 0) continue;
            names_.at(*side.element, [&] {
                add_term(side.is_product ? made.products : made.reactants, side.species, times);
                return true;
            });
        }
        auto both =
            flux.reaction->getReversible() ? directions(made, network_.species) : std::nullopt;
        if (!both) {
            network_.reactions.push_back(std::move(made));
            return;
        }
        Reaction back{made.name + " (reverse)", made.products, made.reactants, 0,
                      std::move(both->second)};
        made.rate = std::move(both->first);
        network_.reactions.push_back(std::move(made));
        network_.reactions.push_back(std::move(back));
    }

    // Events.

    void add_event(const ::Event& event) {
        const Trigger* const trigger = event.getTrigger();
        if (trigger == nullptr || !trigger->isSetMath()) return;  // it never happens
        Event made{event.isSetId() ? event.getId() : fmt::format("of line {}", event.getLine()),
                   counted(names_.math(*trigger, *trigger->getMath()))};
        const auto draw = [&](Distribution distribution, std::vector<Expression> arguments) {
            const std::size_t place = names_.quantities().size() + 1 + network_.draws++;
            made.draws.push_back({place, distribution, std::move(arguments)});
            return count_of(place);
        };
        if (const Delay* const delay = event.getDelay(); delay != nullptr && delay->isSetMath()) {
            made.delay = counted(names_.math(*delay, *delay->getMath(), draw));
        }
        const Priority* const priority = event.getPriority();
        if (priority != nullptr && priority->isSetMath()) {
            made.priority = counted(names_.math(*priority, *priority->getMath()));
        }
        made.initially = trigger->getInitialValue();
        made.persistent = trigger->getPersistent();
        made.from_trigger = event.getUseValuesFromTriggerTime();
        for (unsigned i = 0; i < event.getNumEventAssignments(); ++i) {
            const EventAssignment& one = *event.getEventAssignment(i);
            if (!one.isSetMath()) continue;
            Setting setting{names_.number_of(one.getVariable()),
                            counted(names_.math(one, *one.getMath(), draw))};
            if (const ::Species* const species = model_.getSpecies(one.getVariable())) {
                setting.factor =
                    counted(names_.in_molecules(*species, constant(1), size_of(*species)));
            }
            made.settings.push_back(std::move(setting));
        }
        network_.events.push_back(std::move(made));
    }

    const Model& model_;
    const SbmlNames names_;
    Network network_;
    std::vector<bool> is_reacting_;  // by number of a quantity: reactions change it
    std::vector<Flux> fluxes_;
    std::set<std::string> set_by_events_;
    std::set<std::size_t> large_;                           // of more molecules than are counted
    std::map<std::size_t, std::vector<Expression>> rates_;  // the terms of each
    std::size_t length_ = 0;                                // of what the network has
};

}  // namespace

Network sbml_network(const std::string& path, const Model& model) {
    return SbmlModel(path, model).read();
}

}  // namespace strid::ssa
