// SPDX-License-Identifier: Apache-2.0
//
// The meaning of the names of an SBML model: numbers, quantities that change, or expressions of
// them (assignment rules, rates of reactions).
//
// A quantity that changes is a species of the network: the species of the model first, in their
// order, then compartments, parameters and stoichiometries that rules or events change. Amounts of
// species are in molecules there; expressions are in the units of the model.
//
// Borrows the model, which function definitions have left. One thread at a time.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <sbml/SBMLTypes.h>

#include <strid/base/error.hpp>

#include "expression.hpp"
#include "sbml_math.hpp"

LIBSBML_CPP_NAMESPACE_USE

namespace strid::ssa {

class SbmlNames {
  public:
    /// Throws InputOutputError, with the line, where a name has no meaning or depends on itself.
    SbmlNames(const std::string& path, const Model& model);

    /// The names of the quantities that change, by their number.
    [[nodiscard]] const std::vector<std::string>& quantities() const noexcept {
        return quantities_;
    }
    [[nodiscard]] std::size_t number_of(const std::string& name) const { return numbers_.at(name); }
    [[nodiscard]] bool is_quantity(const std::string& name) const {
        return numbers_.contains(name);
    }
    /// Of a quantity with an assignment rule, a rate rule; null: it has none.
    [[nodiscard]] const Rule* assignment_of(const std::string& name) const;
    [[nodiscard]] const Rule* rate_of(const std::string& name) const;

    /// At time 0, in the unit that math reads (for species: a concentration, unless they have only
    /// substance units). NaN: it has no value.
    [[nodiscard]] double initial(const std::string& name) const;
    /// The value at any time. Throws GraphError where it has none.
    [[nodiscard]] Expression value(const std::string& name) const;
    /// `draw`: makes random numbers, where there may be some.
    [[nodiscard]] Expression math(
        const SBase& element, const ASTNode& node,
        const std::function<Expression(Distribution, std::vector<Expression>)>& draw = {}) const;
    /// The rate of a reaction, as the model has it. Throws InputOutputError where it has none.
    [[nodiscard]] const Expression& rate(const ::Reaction& reaction) const;

    /// The molecules of a unit of amount.
    [[nodiscard]] double molecules(const ::Species& species) const {
        return molecules_.at(species.getId());
    }
    /// True where math reads a concentration.
    [[nodiscard]] bool is_concentration(const ::Species& species) const;
    /// Molecules of `read`, the value that math has of the species.
    [[nodiscard]] Expression in_molecules(const ::Species& species, Expression read,
                                          Expression size) const;
    [[noreturn]] void fail(const SBase& element, const std::string& what) const;
    /// An exception of `make` about math gets the line of the element.
    template <class Make>
    auto at(const SBase& element, const Make& make) const {
        try {
            return make();
        } catch (const GraphError& error) {
            fail(element, error.what());
        }
    }

  private:
    using Words = std::set<std::string>;
    using WordsOf = std::function<Words(const std::string&)>;

    void find_rules();
    void find_quantities();
    void find_initial_values();
    void find_expressions();
    [[nodiscard]] std::vector<std::string> in_order(const std::vector<std::string>& all,
                                                    const WordsOf& reads) const;
    [[nodiscard]] const ASTNode* initial_math(const std::string& name) const;
    [[nodiscard]] const SBase& element_of(const std::string& name) const;
    [[nodiscard]] double declared(const std::string& name) const;
    [[nodiscard]] double declared_amount(const ::Species& species) const;
    [[nodiscard]] Expression law_of(const ::Reaction& reaction) const;
    [[nodiscard]] Expression quantity(const std::string& name) const;
    void keep(const std::string& name, Expression made);
    [[noreturn]] void unknown(const std::string& name) const;

    const std::string& path_;
    const Model& model_;
    std::vector<std::string> all_;  // every name, in the order of the model
    std::map<std::string, const Rule*> assignments_;
    std::map<std::string, const Rule*> rates_;
    std::map<std::string, const SBase*> references_;  // stoichiometries with a name
    std::map<std::string, double> molecules_;         // by species
    std::vector<std::string> quantities_;
    std::map<std::string, std::size_t> numbers_;
    std::map<std::string, double> initial_;
    std::map<std::string, Expression> expressions_;  // of assignment rules and reactions
    std::size_t length_ = 0;                         // of all of them
};

}  // namespace strid::ssa
