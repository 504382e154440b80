// SPDX-License-Identifier: Apache-2.0
#include "rate_directions.hpp"

#include <algorithm>

namespace strid::ssa {

namespace {

/// `a - b`, also in products and quotients, as its two parts; nothing: it is none.
std::optional<std::pair<Expression, Expression>> two_parts(const Expression& rate) {
    if (rate.operation == Operation::subtract) {
        return std::pair(rate.operands[0], rate.operands[1]);
    }
    if (rate.operation != Operation::multiply && rate.operation != Operation::divide) {
        return std::nullopt;
    }
    if (auto parts = two_parts(rate.operands[0])) {
        return std::pair(combine(rate.operation, std::move(parts->first), rate.operands[1]),
                         combine(rate.operation, std::move(parts->second), rate.operands[1]));
    }
    if (rate.operation == Operation::divide) return std::nullopt;
    if (auto parts = two_parts(rate.operands[1])) {
        return std::pair(combine(rate.operation, rate.operands[0], std::move(parts->first)),
                         combine(rate.operation, rate.operands[0], std::move(parts->second)));
    }
    return std::nullopt;
}

/// Where the rate shows it by its form: counts are from 0 on.
bool is_never_negative(const Expression& rate, const std::vector<Species>& species) {
    const auto operand = [&](std::size_t i) {
        return is_never_negative(rate.operands[i], species);
    };
    switch (rate.operation) {
        case Operation::constant:
            return rate.value >= 0;
        case Operation::species:
            return rate.species < species.size() && !species[rate.species].real;
        case Operation::add:
        case Operation::multiply:
        case Operation::divide:
        case Operation::minimum:
            return operand(0) && operand(1);
        case Operation::power:
            return operand(0);
        case Operation::select:
            return operand(1) && operand(2);
        case Operation::subtract:
        case Operation::maximum:
        case Operation::call:
            return false;
        default:
            return true;  // comparisons
    }
}

}  // namespace

std::optional<std::pair<Expression, Expression>> directions(const Reaction& reaction,
                                                            const std::vector<Species>& species) {
    if (is_never_negative(*reaction.rate, species)) return std::nullopt;
    const auto is_product_only = [&](std::size_t number) {
        return std::ranges::find(reaction.products, number, &Term::species) !=
                   reaction.products.end() &&
               std::ranges::find(reaction.reactants, number, &Term::species) ==
                   reaction.reactants.end();
    };
    auto parts = two_parts(*reaction.rate);
    if (parts && std::ranges::any_of(species_read(parts->second), is_product_only)) {
        return parts;
    }
    return std::pair(
        combine(Operation::maximum, *reaction.rate, constant(0)),
        combine(Operation::maximum, call(function_named("negate"), *reaction.rate), constant(0)));
}

Expression sum_of(std::vector<Expression> terms) {
    if (terms.empty()) return constant(0);
    while (terms.size() > 1) {
        std::vector<Expression> pairs;
        for (std::size_t i = 0; i + 1 < terms.size(); i += 2) {
            pairs.push_back(combine(Operation::add, std::move(terms[i]), std::move(terms[i + 1])));
        }
        if (terms.size() % 2 == 1) pairs.push_back(std::move(terms.back()));
        terms = std::move(pairs);
    }
    return std::move(terms[0]);
}

}  // namespace strid::ssa
