// SPDX-License-Identifier: Apache-2.0
#include "sbml_names.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "sbml_units.hpp"

namespace strid::ssa {

namespace {

// Of all rules and rates together, what they read put in their place.
constexpr std::size_t length_max = 1'000'000;
constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

void add_words(const ASTNode& node, std::set<std::string>& words) {
    if (node.getType() == AST_NAME && node.getName() != nullptr) words.insert(node.getName());
    for (unsigned i = 0; i < node.getNumChildren(); ++i) add_words(*node.getChild(i), words);
}

const KineticLaw* law_of_reaction(const Model& model, const std::string& name) {
    const ::Reaction* const reaction = model.getReaction(name);
    return reaction != nullptr ? reaction->getKineticLaw() : nullptr;
}

/// The parameters of a reaction: NaN where one has no value.
std::map<std::string, double> own_parameters(const KineticLaw* law) {
    std::map<std::string, double> own;
    for (unsigned i = 0; law != nullptr && i < law->getNumParameters(); ++i) {
        const Parameter& one = *law->getParameter(i);
        own[one.getId()] = one.isSetValue() ? one.getValue() : no_value;
    }
    return own;
}

}  // namespace

SbmlNames::SbmlNames(const std::string& path, const Model& model) : path_(path), model_(model) {
    find_rules();
    find_quantities();
    find_initial_values();
    find_expressions();
}

void SbmlNames::fail(const SBase& element, const std::string& what) const {
    throw InputOutputError(fmt::format("{}:{}: {}", path_, element.getLine(), what));
}

void SbmlNames::find_rules() {
    const auto add = [this](const std::string& name) {
        if (!name.empty()) all_.push_back(name);
    };
    for (unsigned i = 0; i < model_.getNumSpecies(); ++i) {
        const ::Species& one = *model_.getSpecies(i);
        add(one.getId());
        molecules_[one.getId()] = at(one, [&] { return molecules_per_unit(model_, one); });
    }
    for (unsigned i = 0; i < model_.getNumCompartments(); ++i) {
        add(model_.getCompartment(i)->getId());
    }
    for (unsigned i = 0; i < model_.getNumParameters(); ++i) add(model_.getParameter(i)->getId());
    for (unsigned i = 0; i < model_.getNumReactions(); ++i) {
        const ::Reaction& reaction = *model_.getReaction(i);
        add(reaction.getId());
        for (const auto* const list :
             {reaction.getListOfReactants(), reaction.getListOfProducts()}) {
            for (unsigned k = 0; k < list->size(); ++k) {
                if (!list->get(k)->isSetId()) continue;
                add(list->get(k)->getId());
                references_[list->get(k)->getId()] = list->get(k);
            }
        }
    }
    for (unsigned i = 0; i < model_.getNumRules(); ++i) {
        const Rule& rule = *model_.getRule(i);
        if (rule.isAlgebraic()) fail(rule, "algebraic rules are not supported");
        if (rule.isSetMath()) {
            (rule.isAssignment() ? assignments_ : rates_)[rule.getVariable()] = &rule;
        }
    }
}

void SbmlNames::find_quantities() {
    std::set<std::string> changed;
    for (const auto& [name, rule] : assignments_) changed.insert(name);
    for (const auto& [name, rule] : rates_) changed.insert(name);
    for (unsigned i = 0; i < model_.getNumEvents(); ++i) {
        const ::Event& event = *model_.getEvent(i);
        for (unsigned k = 0; k < event.getNumEventAssignments(); ++k) {
            changed.insert(event.getEventAssignment(k)->getVariable());
        }
    }
    for (const std::string& name : all_) {
        if (model_.getSpecies(name) == nullptr && !changed.contains(name)) continue;
        if (!numbers_.emplace(name, quantities_.size()).second) {
            fail(element_of(name), fmt::format("'{}' is given twice", name));
        }
        quantities_.push_back(name);
    }
    for (const std::string& name : changed) {
        if (!numbers_.contains(name)) {
            fail(model_,
                 fmt::format("a rule or an event changes '{}', which is not in the model", name));
        }
    }
}

const Rule* SbmlNames::assignment_of(const std::string& name) const {
    const auto found = assignments_.find(name);
    return found != assignments_.end() ? found->second : nullptr;
}

const Rule* SbmlNames::rate_of(const std::string& name) const {
    const auto found = rates_.find(name);
    return found != rates_.end() ? found->second : nullptr;
}

const SBase& SbmlNames::element_of(const std::string& name) const {
    if (const Rule* const rule = assignment_of(name)) return *rule;
    if (const auto* const assignment = model_.getInitialAssignment(name)) return *assignment;
    if (const ::Species* const species = model_.getSpecies(name)) return *species;
    if (const ::Reaction* const reaction = model_.getReaction(name)) return *reaction;
    return model_;
}

/// The math that gives the value at time 0; null: it is declared.
const ASTNode* SbmlNames::initial_math(const std::string& name) const {
    const InitialAssignment* const assignment = model_.getInitialAssignment(name);
    if (assignment != nullptr && assignment->isSetMath()) return assignment->getMath();
    if (const Rule* const rule = assignment_of(name)) return rule->getMath();
    const KineticLaw* const law = law_of_reaction(model_, name);
    return law != nullptr ? law->getMath() : nullptr;
}

/// Each after what it reads. Not by recursion: chains may be long.
std::vector<std::string> SbmlNames::in_order(const std::vector<std::string>& all,
                                             const WordsOf& reads) const {
    enum class State : std::uint8_t { open, done };
    std::map<std::string, State> states;
    std::vector<std::string> order;
    std::vector<std::string> path;
    for (const std::string& first : all) {
        path.push_back(first);
        while (!path.empty()) {
            const std::string name = path.back();
            const auto [state, is_new] = states.try_emplace(name, State::open);
            if (!is_new) {
                path.pop_back();
                if (state->second == State::open) order.push_back(name);
                state->second = State::done;
                continue;
            }
            for (const std::string& word : reads(name)) {
                const auto known = states.find(word);
                if (known == states.end()) {
                    path.push_back(word);
                } else if (known->second == State::open) {
                    fail(element_of(word), fmt::format("'{}' depends on itself", word));
                }
            }
        }
    }
    return order;
}

void SbmlNames::find_initial_values() {
    const auto reads = [this](const std::string& name) {
        Words words;
        if (const ASTNode* const node = initial_math(name)) add_words(*node, words);
        const ::Species* const species = model_.getSpecies(name);
        if (species != nullptr) words.insert(species->getCompartment());
        for (const auto& [own, number] : own_parameters(law_of_reaction(model_, name))) {
            words.erase(own);
        }
        return words;
    };
    for (const std::string& name : in_order(all_, reads)) {
        if (initial_.contains(name)) continue;
        const ASTNode* const node = initial_math(name);
        if (node == nullptr) {
            initial_[name] = declared(name);
            continue;
        }
        const std::map<std::string, double> own = own_parameters(law_of_reaction(model_, name));
        const auto number_of_word = [&](const std::string& word) {
            if (const auto known = own.find(word); known != own.end()) return known->second;
            const double number = initial(word);
            const bool is_known = is_quantity(word) || initial_math(word) != nullptr;
            if (std::isnan(number) && !is_known) unknown(word);
            return number;
        };
        const Meaning meaning{
            [&](const std::string& word) { return constant(number_of_word(word)); },
            constant(0),
            {}};
        initial_[name] = at(element_of(name), [&] { return expression_of(*node, meaning).value; });
    }
}

double SbmlNames::initial(const std::string& name) const {
    const auto known = initial_.find(name);
    return known != initial_.end() ? known->second : no_value;
}

double SbmlNames::declared(const std::string& name) const {
    if (const Parameter* const one = model_.getParameter(name)) {
        return one->isSetValue() ? one->getValue() : no_value;
    }
    if (const Compartment* const one = model_.getCompartment(name)) {
        return one->isSetSize() ? one->getSize() : 1;
    }
    if (const ::Species* const one = model_.getSpecies(name)) return declared_amount(*one);
    if (const auto reference = references_.find(name); reference != references_.end()) {
        const auto* const one = dynamic_cast<const SpeciesReference*>(reference->second);
        return one != nullptr && one->isSetStoichiometry() ? one->getStoichiometry() : no_value;
    }
    return no_value;
}

/// In the unit that math reads.
double SbmlNames::declared_amount(const ::Species& species) const {
    const double size = initial(species.getCompartment());
    const bool reads_concentration = is_concentration(species);
    if (species.isSetInitialAmount()) {
        return species.getInitialAmount() / (reads_concentration ? size : 1);
    }
    if (species.isSetInitialConcentration()) {
        return species.getInitialConcentration() * (reads_concentration ? 1 : size);
    }
    return no_value;
}

bool SbmlNames::is_concentration(const ::Species& species) const {
    if (species.getHasOnlySubstanceUnits()) return false;
    const Compartment* const compartment = model_.getCompartment(species.getCompartment());
    if (compartment == nullptr) {
        fail(species, fmt::format("unknown compartment '{}'", species.getCompartment()));
    }
    return !compartment->isSetSpatialDimensions() || compartment->getSpatialDimensions() != 0;
}

Expression SbmlNames::in_molecules(const ::Species& species, Expression read,
                                   Expression size) const {
    if (is_concentration(species)) {
        read = combine(Operation::multiply, std::move(read), std::move(size));
    }
    return combine(Operation::multiply, std::move(read), constant(molecules(species)));
}

void SbmlNames::unknown(const std::string& name) const {
    throw GraphError(fmt::format("'{}' has no value in the model{}", name, suggestion(name, all_)));
}

/// One that changes by reactions, rates or events.
Expression SbmlNames::quantity(const std::string& name) const {
    Expression made = count_of(number_of(name));
    const ::Species* const species = model_.getSpecies(name);
    if (species == nullptr) return made;
    made = combine(Operation::divide, std::move(made), constant(molecules(*species)));
    if (!is_concentration(*species)) return made;
    return combine(Operation::divide, std::move(made), value(species->getCompartment()));
}

Expression SbmlNames::value(const std::string& name) const {
    if (const auto known = expressions_.find(name); known != expressions_.end()) {
        return known->second;
    }
    if (is_quantity(name)) return quantity(name);
    const double number = initial(name);
    if (std::isnan(number) && initial_math(name) == nullptr) unknown(name);
    return constant(number);
}

Expression SbmlNames::math(
    const SBase& element, const ASTNode& node,
    const std::function<Expression(Distribution, std::vector<Expression>)>& draw) const {
    const Meaning meaning{[this](const std::string& name) { return value(name); },
                          count_of(quantities_.size()), draw};
    return at(element, [&] { return expression_of(node, meaning); });
}

Expression SbmlNames::law_of(const ::Reaction& reaction) const {
    const KineticLaw& law = *reaction.getKineticLaw();
    const std::map<std::string, double> own = own_parameters(&law);
    const Meaning meaning{[&](const std::string& name) {
                              const auto known = own.find(name);
                              return known != own.end() ? constant(known->second) : value(name);
                          },
                          count_of(quantities_.size()),
                          {}};
    return at(law, [&] { return expression_of(*law.getMath(), meaning); });
}

const Expression& SbmlNames::rate(const ::Reaction& reaction) const {
    const auto known = expressions_.find(reaction.getId());
    if (known == expressions_.end()) {
        fail(reaction, fmt::format("reaction '{}' has no kinetic law", reaction.getId()));
    }
    return known->second;
}

void SbmlNames::keep(const std::string& name, Expression made) {
    length_ += size(made);
    if (length_ > length_max) {
        fail(element_of(name),
             fmt::format("the rules and rates of the model have more than {} terms when what they "
                         "read is put in its place",
                         length_max));
    }
    expressions_.emplace(name, std::move(made));
}

void SbmlNames::find_expressions() {
    std::vector<std::string> ruled;
    for (const std::string& name : all_) {
        const KineticLaw* const law = law_of_reaction(model_, name);
        if (assignment_of(name) != nullptr || (law != nullptr && law->isSetMath())) {
            ruled.push_back(name);
        }
    }
    const std::set<std::string> is_ruled(ruled.begin(), ruled.end());
    const auto reads = [&](const std::string& name) {
        Words words;
        const Rule* const rule = assignment_of(name);
        add_words(rule != nullptr ? *rule->getMath()
                                  : *model_.getReaction(name)->getKineticLaw()->getMath(),
                  words);
        // A concentration reads its compartment, which may have a rule.
        const Words direct = words;
        for (const std::string& word : direct) {
            const ::Species* const species = model_.getSpecies(word);
            if (species != nullptr) words.insert(species->getCompartment());
        }
        for (const auto& [own, number] : own_parameters(law_of_reaction(model_, name))) {
            words.erase(own);
        }
        std::erase_if(words, [&](const std::string& word) { return !is_ruled.contains(word); });
        return words;
    };
    for (const std::string& name : in_order(ruled, reads)) {
        const Rule* const rule = assignment_of(name);
        keep(name,
             rule != nullptr ? math(*rule, *rule->getMath()) : law_of(*model_.getReaction(name)));
    }
}

}  // namespace strid::ssa
