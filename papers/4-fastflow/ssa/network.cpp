// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::ssa {

namespace {

std::vector<Change> changes_of(const Network& network, const Reaction& reaction) {
    std::map<std::size_t, std::int64_t> by;
    for (const Term& term : reaction.reactants) by[term.species] -= term.count;
    for (const Term& term : reaction.products) by[term.species] += term.count;
    std::vector<Change> changes;
    for (const auto& [species, count] : by) {
        if (count == 0 || network.species[species].fixed) continue;
        changes.push_back({static_cast<std::uint32_t>(species), static_cast<double>(count)});
    }
    return changes;
}

std::optional<CompiledRate> compile(const std::optional<Expression>& expression) {
    if (!expression) return std::nullopt;
    return CompiledRate(*expression);
}

std::vector<CompiledSetting> compile(const std::vector<Setting>& settings) {
    std::vector<CompiledSetting> made;
    for (const Setting& one : settings) {
        made.push_back({static_cast<std::uint32_t>(one.species), CompiledRate(one.value),
                        compile(one.factor)});
    }
    return made;
}

std::vector<CompiledDraw> compile(const std::vector<Draw>& draws) {
    std::vector<CompiledDraw> made;
    for (const Draw& one : draws) {
        made.push_back({one.place, one.distribution, {}});
        for (const Expression& argument : one.arguments) {
            made.back().arguments.emplace_back(argument);
        }
    }
    return made;
}

void add_conditions(const Expression& expression, std::vector<CompiledRate>& conditions) {
    const Operation operation = expression.operation;
    if (operation == Operation::less || operation == Operation::less_or_equal ||
        operation == Operation::equal || operation == Operation::unequal) {
        conditions.emplace_back(expression);
    }
    for (const Expression& operand : expression.operands) add_conditions(operand, conditions);
}

CompiledEvent compile(const Event& event) {
    return {event.name,           CompiledRate(event.trigger),
            compile(event.delay), compile(event.priority),
            event.initially,      event.persistent,
            event.from_trigger,   compile(event.settings),
            compile(event.draws)};
}

/// A rate that is a number times counts.
struct Product {
    double constant = 1;
    std::vector<std::uint32_t> species = {};
};

/// False where it is none.
bool read_product(const Expression& rate, Product& product) {
    switch (rate.operation) {
        case Operation::constant:
            product.constant *= rate.value;
            return true;
        case Operation::species:
            product.species.push_back(static_cast<std::uint32_t>(rate.species));
            return true;
        case Operation::multiply:
            return read_product(rate.operands[0], product) &&
                   read_product(rate.operands[1], product);
        case Operation::divide:
            if (!rate.operands[1].is_constant()) return false;
            product.constant /= rate.operands[1].value;
            return read_product(rate.operands[0], product);
        default:
            return false;
    }
}

}  // namespace

void add_term(std::vector<Term>& terms, std::size_t species, std::int64_t count) {
    auto term = std::ranges::find(terms, species, &Term::species);
    if (term == terms.end()) term = terms.insert(term, {species, 0});
    term->count += count;
    if (term->count > stoichiometry_max) {
        throw GraphError(
            fmt::format("a reaction of more than {} of one species", stoichiometry_max));
    }
}

Kinetics::Kinetics(Network network) : network_(std::move(network)) {
    for (std::size_t i = 0; i < network_.reactions.size(); ++i) {
        const Reaction& reaction = network_.reactions[i];
        laws_.push_back(law_of(i));
        checked_.push_back(reaction.rate.has_value());
        reactants_.append(reaction.reactants);
        changes_.append(changes_of(network_, reaction));
    }
    assigned_ = compile(network_.assigned);
    driven_ = compile(network_.rates);
    for (const Event& event : network_.events) {
        events_.push_back(compile(event));
        add_conditions(event.trigger, conditions_);
        conditions_.emplace_back(event.trigger);
    }
    find_dependents();
}

Kinetics::Law Kinetics::law_of(std::size_t number) {
    const Reaction& reaction = network_.reactions[number];
    const std::vector<Term>& terms = reaction.reactants;
    const auto species = [&](std::size_t i) {
        return static_cast<std::uint32_t>(terms[i].species);
    };
    if (reaction.rate) {
        Product product;
        const bool is_product = read_product(*reaction.rate, product);
        const std::vector<std::uint32_t>& counts = product.species;
        if (is_product && counts.empty()) return {Kind::constant, 0, 0, product.constant};
        if (is_product && counts.size() == 1) return {Kind::one, counts[0], 0, product.constant};
        if (is_product && counts.size() == 2) {
            return {Kind::two, counts[0], counts[1], product.constant};
        }
        rates_.emplace_back(*reaction.rate);
        return {Kind::rate, static_cast<std::uint32_t>(rates_.size() - 1)};
    }
    if (terms.empty()) return {Kind::constant, 0, 0, reaction.constant};
    if (terms.size() == 1 && terms[0].count == 1) {
        return {Kind::one, species(0), 0, reaction.constant};
    }
    if (terms.size() == 1 && terms[0].count == 2) {
        return {Kind::pair, species(0), 0, reaction.constant};
    }
    if (terms.size() == 2 && terms[0].count == 1 && terms[1].count == 1) {
        return {Kind::two, species(0), species(1), reaction.constant};
    }
    return {Kind::many, static_cast<std::uint32_t>(number), 0, reaction.constant};
}

/// The ways to take the reactants: binomial coefficients of the counts.
double Kinetics::many(const Law& law, const double* counts) const noexcept {
    double value = law.constant;
    for (const Term& term : reactants_[law.first]) {
        const double count = counts[term.species];
        if (count < static_cast<double>(term.count)) return 0;
        for (std::int64_t i = 0; i < term.count; ++i) {
            value *= (count - static_cast<double>(i)) / static_cast<double>(i + 1);
        }
    }
    return value;
}

std::vector<std::size_t> Kinetics::reads(std::size_t reaction) const {
    const Reaction& described = network_.reactions[reaction];
    if (described.rate) return species_read(*described.rate);
    std::vector<std::size_t> species;
    for (const Term& term : described.reactants) species.push_back(term.species);
    return species;
}

std::vector<double> Kinetics::initial_counts() const {
    std::vector<double> counts;
    for (const Species& species : network_.species) counts.push_back(species.initial);
    counts.resize(counts.size() + 1 + network_.draws);
    return counts;
}

std::vector<bool> Kinetics::reals() const {
    std::vector<bool> reals;
    for (const Species& species : network_.species) reals.push_back(species.real);
    return reals;
}

void Kinetics::find_dependents() {
    std::vector<std::vector<std::uint32_t>> readers(species() + 1);
    for (std::size_t i = 0; i < reactions(); ++i) {
        for (const std::size_t species : reads(i)) {
            readers[species].push_back(static_cast<std::uint32_t>(i));
        }
    }
    reads_time_ = !readers[network_.time()].empty();
    for (std::size_t i = 0; i < reactions(); ++i) {
        std::vector<std::uint32_t> found;
        for (const Change& change : changes(i)) {
            const std::vector<std::uint32_t>& reading = readers[change.species];
            found.insert(found.end(), reading.begin(), reading.end());
        }
        std::ranges::sort(found);
        found.erase(std::ranges::unique(found).begin(), found.end());
        const auto own = std::ranges::find(found, static_cast<std::uint32_t>(i));
        own_.push_back(own != found.end());
        if (own != found.end()) found.erase(own);
        dependents_.append(found);
    }
}

}  // namespace strid::ssa
