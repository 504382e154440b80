// SPDX-License-Identifier: Apache-2.0
#include "expression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <strid/base/error.hpp>

namespace strid::ssa {

namespace {

constexpr std::array<std::pair<std::string_view, Function>, 37> functions{{
    {"abs", [](double x) { return std::fabs(x); }},
    {"acos", [](double x) { return std::acos(x); }},
    {"acosh", [](double x) { return std::acosh(x); }},
    {"acot", [](double x) { return std::atan(1 / x); }},
    {"acoth", [](double x) { return std::atanh(1 / x); }},
    {"acsc", [](double x) { return std::asin(1 / x); }},
    {"acsch", [](double x) { return std::asinh(1 / x); }},
    {"asec", [](double x) { return std::acos(1 / x); }},
    {"asech", [](double x) { return std::acosh(1 / x); }},
    {"asin", [](double x) { return std::asin(x); }},
    {"asinh", [](double x) { return std::asinh(x); }},
    {"atan", [](double x) { return std::atan(x); }},
    {"atanh", [](double x) { return std::atanh(x); }},
    {"ceil", [](double x) { return std::ceil(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"cosh", [](double x) { return std::cosh(x); }},
    {"cot", [](double x) { return 1 / std::tan(x); }},
    {"coth", [](double x) { return 1 / std::tanh(x); }},
    {"csc", [](double x) { return 1 / std::sin(x); }},
    {"csch", [](double x) { return 1 / std::sinh(x); }},
    {"exp", [](double x) { return std::exp(x); }},
    {"factorial", [](double x) { return std::tgamma(x + 1); }},
    {"floor", [](double x) { return std::floor(x); }},
    {"ln", [](double x) { return std::log(x); }},
    {"log", [](double x) { return std::log(x); }},
    {"log10", [](double x) { return std::log10(x); }},
    {"negate", [](double x) { return -x; }},
    {"not", [](double x) { return x == 0 ? 1.0 : 0.0; }},
    {"sec", [](double x) { return 1 / std::cos(x); }},
    {"sech", [](double x) { return 1 / std::cosh(x); }},
    {"sin", [](double x) { return std::sin(x); }},
    {"sinh", [](double x) { return std::sinh(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"square", [](double x) { return x * x; }},
    {"tan", [](double x) { return std::tan(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"trunc", [](double x) { return std::trunc(x); }},
}};

double power(double base, double exponent) noexcept {
    if (exponent == 2) return base * base;
    if (exponent == 1) return base;
    return std::pow(base, exponent);
}

double apply(Operation operation, double left, double right) noexcept {
    switch (operation) {
        case Operation::add:
            return left + right;
        case Operation::subtract:
            return left - right;
        case Operation::multiply:
            return left * right;
        case Operation::divide:
            return left / right;
        case Operation::power:
            return power(left, right);
        case Operation::minimum:
            return std::min(left, right);
        case Operation::maximum:
            return std::max(left, right);
        case Operation::less:
            return left < right ? 1 : 0;
        case Operation::less_or_equal:
            return left <= right ? 1 : 0;
        case Operation::equal:
            return left == right ? 1 : 0;
        case Operation::unequal:
            return left != right ? 1 : 0;
        case Operation::both:
            return left != 0 && right != 0 ? 1 : 0;
        case Operation::either:
            return left != 0 || right != 0 ? 1 : 0;
        default:
            return right;
    }
}

bool is_leaf(const Expression& expression) noexcept {
    return expression.operation == Operation::constant ||
           expression.operation == Operation::species;
}

void add_species(const Expression& expression, std::vector<std::size_t>& species) {
    if (expression.operation == Operation::species) species.push_back(expression.species);
    for (const Expression& operand : expression.operands) add_species(operand, species);
}

}  // namespace

Expression constant(double value) {
    Expression made;
    made.value = value;
    return made;
}

Expression count_of(std::size_t species) {
    Expression made;
    made.operation = Operation::species;
    made.species = species;
    return made;
}

Expression call(Function function, Expression operand) {
    if (operand.is_constant()) return constant(function(operand.value));
    Expression made;
    made.operation = Operation::call;
    made.function = function;
    made.operands.push_back(std::move(operand));
    return made;
}

Expression combine(Operation operation, Expression left, Expression right) {
    if (left.is_constant() && right.is_constant()) {
        return constant(apply(operation, left.value, right.value));
    }
    // A product by 1 (a compartment of size 1) is none.
    if (operation == Operation::multiply && left.is_constant() && left.value == 1) return right;
    if ((operation == Operation::multiply || operation == Operation::divide) &&
        right.is_constant() && right.value == 1) {
        return left;
    }
    Expression made;
    made.operation = operation;
    made.operands.push_back(std::move(left));
    made.operands.push_back(std::move(right));
    return made;
}

Expression select(Expression condition, Expression yes, Expression no) {
    if (condition.is_constant()) return condition.value != 0 ? yes : no;
    Expression made;
    made.operation = Operation::select;
    made.operands.push_back(std::move(condition));
    made.operands.push_back(std::move(yes));
    made.operands.push_back(std::move(no));
    return made;
}

Function function_named(std::string_view name) {
    for (const auto& [known, function] : functions) {
        if (known == name) return function;
    }
    return nullptr;
}

std::vector<std::string> function_names() {
    std::vector<std::string> names;
    for (const auto& [name, function] : functions) names.emplace_back(name);
    return names;
}

std::size_t size(const Expression& expression) {
    std::size_t sum = 1;
    for (const Expression& operand : expression.operands) sum += size(operand);
    return sum;
}

std::vector<std::size_t> species_read(const Expression& expression) {
    std::vector<std::size_t> species;
    add_species(expression, species);
    std::ranges::sort(species);
    species.erase(std::ranges::unique(species).begin(), species.end());
    return species;
}

CompiledRate::CompiledRate(const Expression& expression) {
    compile(expression, false, 0);
}

void CompiledRate::append_leaf(Operation operation, const Expression& leaf, bool saves) {
    instructions_.push_back(
        {operation, leaf.operation == Operation::species ? Operand::species : Operand::constant,
         saves, static_cast<std::uint32_t>(leaf.species), leaf.value});
}

/// Leaves the value in the accumulator; with `saves`, what stood there is on the stack after it.
void CompiledRate::compile(const Expression& expression, bool saves, std::size_t depth) {
    if (depth + 2 > depth_max) {
        throw GraphError("a rate is nested too deep: divide it into parameters");
    }
    if (is_leaf(expression)) {
        append_leaf(Operation::constant, expression, saves);
        return;
    }
    compile(expression.operands[0], saves, saves ? depth + 1 : depth);
    const std::size_t inner = saves ? depth + 1 : depth;
    switch (expression.operation) {
        case Operation::call:
            instructions_.push_back(
                {Operation::call, Operand::stack, false, 0, 0, expression.function});
            return;
        case Operation::select:
            compile(expression.operands[1], true, inner);
            compile(expression.operands[2], true, inner + 1);
            instructions_.push_back({Operation::select, Operand::stack});
            return;
        default:
            break;
    }
    if (is_leaf(expression.operands[1])) {
        append_leaf(expression.operation, expression.operands[1], false);
    } else {
        compile(expression.operands[1], true, inner);
        instructions_.push_back({expression.operation, Operand::stack});
    }
}

double CompiledRate::at(const double* counts) const noexcept {
    std::array<double, depth_max> stack;
    std::size_t top = 0;
    double value = 0;
    for (const Instruction& now : instructions_) {
        if (now.operation == Operation::call) {
            value = now.function(value);
        } else if (now.operation == Operation::select) {
            const double yes = stack[--top];
            value = stack[--top] != 0 ? yes : value;
        } else if (now.operand == Operand::stack) {
            value = apply(now.operation, stack[--top], value);
        } else {
            const double operand =
                now.operand == Operand::species ? counts[now.species] : now.value;
            if (now.saves) stack[top++] = value;
            // A load is what apply() does for an operation of one operand.
            value = apply(now.operation, value, operand);
        }
    }
    return value;
}

}  // namespace strid::ssa
