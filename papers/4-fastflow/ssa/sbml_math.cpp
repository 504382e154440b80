// SPDX-License-Identifier: Apache-2.0
#include "sbml_math.hpp"

#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "sbml_distributions.hpp"

namespace strid::ssa {

namespace {

// Of one expression: folding makes chains of them, which are walked by recursion.
constexpr std::size_t operands_max = 10'000;

std::string text_of(const ASTNode& node) {
    const std::unique_ptr<char, decltype(&std::free)> text(SBML_formulaToString(&node), &std::free);
    std::string made = text ? text.get() : "?";
    if (made.empty()) return "<apply> without an operator";
    if (made.size() > 60) made = made.substr(0, 57) + "...";
    return made;
}

constexpr std::array<std::pair<ASTNodeType_t, const char*>, 31> ast_functions{{
    {AST_FUNCTION_ABS, "abs"},       {AST_FUNCTION_ARCCOS, "acos"},
    {AST_FUNCTION_ARCCOSH, "acosh"}, {AST_FUNCTION_ARCCOT, "acot"},
    {AST_FUNCTION_ARCCOTH, "acoth"}, {AST_FUNCTION_ARCCSC, "acsc"},
    {AST_FUNCTION_ARCCSCH, "acsch"}, {AST_FUNCTION_ARCSEC, "asec"},
    {AST_FUNCTION_ARCSECH, "asech"}, {AST_FUNCTION_ARCSIN, "asin"},
    {AST_FUNCTION_ARCSINH, "asinh"}, {AST_FUNCTION_ARCTAN, "atan"},
    {AST_FUNCTION_ARCTANH, "atanh"}, {AST_FUNCTION_CEILING, "ceil"},
    {AST_FUNCTION_COS, "cos"},       {AST_FUNCTION_COSH, "cosh"},
    {AST_FUNCTION_COT, "cot"},       {AST_FUNCTION_COTH, "coth"},
    {AST_FUNCTION_CSC, "csc"},       {AST_FUNCTION_CSCH, "csch"},
    {AST_FUNCTION_EXP, "exp"},       {AST_FUNCTION_FACTORIAL, "factorial"},
    {AST_FUNCTION_FLOOR, "floor"},   {AST_FUNCTION_LN, "ln"},
    {AST_FUNCTION_SEC, "sec"},       {AST_FUNCTION_SECH, "sech"},
    {AST_FUNCTION_SIN, "sin"},       {AST_FUNCTION_SINH, "sinh"},
    {AST_FUNCTION_TAN, "tan"},       {AST_FUNCTION_TANH, "tanh"},
    {AST_LOGICAL_NOT, "not"},
}};

const char* function_name(ASTNodeType_t type) {
    for (const auto& [known, name] : ast_functions) {
        if (known == type) return name;
    }
    return nullptr;
}

class Converter {
  public:
    explicit Converter(const Meaning& meaning) : meaning_(meaning) {}

    [[nodiscard]] Expression convert(const ASTNode& node) {
        const ASTNodeType_t type = node.getType();
        operands_ += node.getNumChildren();
        check_length();
        if (const char* const name = function_name(type)) {
            return call(function_named(name), only(node));
        }
        switch (type) {
            case AST_INTEGER:
            case AST_REAL:
            case AST_REAL_E:
            case AST_RATIONAL:
                return constant(node.getValue());
            case AST_CONSTANT_E:
                return constant(std::numbers::e);
            case AST_CONSTANT_PI:
                return constant(std::numbers::pi);
            case AST_CONSTANT_TRUE:
                return constant(1);
            case AST_CONSTANT_FALSE:
                return constant(0);
            case AST_NAME_AVOGADRO:
                return constant(6.02214179e23);  // of SBML level 3
            case AST_NAME:
                return named(meaning_.name(node.getName()));
            case AST_NAME_TIME:
                return meaning_.time;
            case AST_FUNCTION_DELAY:
                throw GraphError("a delay is not supported");
            case AST_FUNCTION:
                return function_of_model(node);
            case AST_FUNCTION_PIECEWISE:
                return piecewise(node);
            default:
                return of_several(node);
        }
    }

  private:
    /// The expression of a rule counts as if it stood here.
    [[nodiscard]] Expression named(Expression made) {
        operands_ += size(made);
        check_length();
        return made;
    }
    void check_length() const {
        if (operands_ <= operands_max) return;
        throw GraphError(fmt::format("math with more than {} operands", operands_max));
    }
    [[nodiscard]] Expression child(const ASTNode& node, unsigned i) {
        return convert(*node.getChild(i));
    }
    [[nodiscard]] Expression only(const ASTNode& node) {
        check(node, 1);
        return child(node, 0);
    }
    static void check(const ASTNode& node, unsigned children) {
        if (node.getNumChildren() == children) return;
        throw GraphError(fmt::format("'{}' has {} operands, not {}", text_of(node),
                                     node.getNumChildren(), children));
    }
    [[nodiscard]] Expression fold(const ASTNode& node, Operation operation, double empty) {
        if (node.getNumChildren() == 0) return constant(empty);
        Expression made = child(node, 0);
        for (unsigned i = 1; i < node.getNumChildren(); ++i) {
            made = combine(operation, std::move(made), child(node, i));
        }
        return made;
    }
    [[nodiscard]] Expression two(const ASTNode& node, Operation operation, bool reversed = false) {
        check(node, 2);
        return combine(operation, child(node, reversed ? 1 : 0), child(node, reversed ? 0 : 1));
    }
    /// a < b < c is two comparisons.
    [[nodiscard]] Expression chain(const ASTNode& node, Operation operation, bool reversed) {
        if (node.getNumChildren() == 2) return two(node, operation, reversed);
        Expression made = constant(1);
        for (unsigned i = 1; i < node.getNumChildren(); ++i) {
            made = combine(Operation::both, std::move(made),
                           combine(operation, child(node, reversed ? i : i - 1),
                                   child(node, reversed ? i - 1 : i)));
        }
        return made;
    }
    [[nodiscard]] Expression piecewise(const ASTNode& node) {
        const unsigned children = node.getNumChildren();
        // Where no condition holds and there is no other value, it has none.
        Expression made = children % 2 == 1 ? child(node, children - 1) : constant(std::nan(""));
        for (unsigned i = children / 2; i-- > 0;) {
            made = select(child(node, 2 * i + 1), child(node, 2 * i), std::move(made));
        }
        return made;
    }
    [[nodiscard]] Expression minus(const ASTNode& node) {
        if (node.getNumChildren() == 1) return call(function_named("negate"), child(node, 0));
        return two(node, Operation::subtract);
    }
    [[nodiscard]] Expression root(const ASTNode& node) {
        if (node.getNumChildren() == 1) return call(function_named("sqrt"), child(node, 0));
        check(node, 2);
        const Expression degree = child(node, 0);
        if (degree.is_constant() && degree.value == 2) {
            return call(function_named("sqrt"), child(node, 1));
        }
        return combine(Operation::power, child(node, 1),
                       combine(Operation::divide, constant(1), degree));
    }
    [[nodiscard]] Expression logarithm(const ASTNode& node) {
        if (node.getNumChildren() == 1) return call(function_named("log10"), child(node, 0));
        check(node, 2);
        const Expression base = child(node, 0);
        if (base.is_constant() && base.value == 10) {
            return call(function_named("log10"), child(node, 1));
        }
        const Function ln = function_named("ln");
        return combine(Operation::divide, call(ln, child(node, 1)), call(ln, base));
    }
    [[nodiscard]] Expression whole_quotient(const ASTNode& node) {
        return call(function_named("trunc"), two(node, Operation::divide));
    }
    [[nodiscard]] Expression remainder(const ASTNode& node) {
        return combine(Operation::subtract, child(node, 0),
                       combine(Operation::multiply, child(node, 1), whole_quotient(node)));
    }
    [[nodiscard]] Expression exclusive_or(const ASTNode& node) {
        const Function negation = function_named("not");
        Expression made = constant(0);
        for (unsigned i = 0; i < node.getNumChildren(); ++i) {
            made = combine(Operation::unequal, std::move(made),
                           call(negation, call(negation, child(node, i))));
        }
        return made;
    }
    [[nodiscard]] Expression implication(const ASTNode& node) {
        check(node, 2);
        return combine(Operation::either, call(function_named("not"), child(node, 0)),
                       child(node, 1));
    }
    /// Those that the model defines are expanded; the others are distributions.
    [[nodiscard]] Expression function_of_model(const ASTNode& node) {
        const std::string_view name = node.getName();
        const std::string_view prefix = distribution_prefix;
        if (!name.starts_with(prefix)) {
            throw GraphError(fmt::format("unknown function '{}'", name));
        }
        const auto distribution = distribution_named(name.substr(prefix.size()));
        if (!distribution) {
            throw GraphError(fmt::format("unknown distribution '{}'", name.substr(prefix.size())));
        }
        if (!meaning_.draw) {
            throw GraphError(
                "random numbers are possible only in delays of events and in what "
                "events set");
        }
        check_arguments(*distribution, node.getNumChildren());
        std::vector<Expression> arguments;
        for (unsigned i = 0; i < node.getNumChildren(); ++i) arguments.push_back(child(node, i));
        return meaning_.draw(*distribution, std::move(arguments));
    }
    [[nodiscard]] Expression of_several(const ASTNode& node) {
        switch (node.getType()) {
            case AST_PLUS:
                return fold(node, Operation::add, 0);
            case AST_TIMES:
                return fold(node, Operation::multiply, 1);
            case AST_MINUS:
                return minus(node);
            case AST_DIVIDE:
                return two(node, Operation::divide);
            case AST_POWER:
            case AST_FUNCTION_POWER:
                return two(node, Operation::power);
            case AST_FUNCTION_ROOT:
                return root(node);
            case AST_FUNCTION_LOG:
                return logarithm(node);
            case AST_FUNCTION_MIN:
                return fold(node, Operation::minimum, std::nan(""));
            case AST_FUNCTION_MAX:
                return fold(node, Operation::maximum, std::nan(""));
            case AST_FUNCTION_QUOTIENT:
                return whole_quotient(node);
            case AST_FUNCTION_REM:
                return remainder(node);
            case AST_LOGICAL_XOR:
                return exclusive_or(node);
            case AST_LOGICAL_IMPLIES:
                return implication(node);
            case AST_LOGICAL_AND:
                return fold(node, Operation::both, 1);
            case AST_LOGICAL_OR:
                return fold(node, Operation::either, 0);
            case AST_RELATIONAL_LT:
                return chain(node, Operation::less, false);
            case AST_RELATIONAL_GT:
                return chain(node, Operation::less, true);
            case AST_RELATIONAL_LEQ:
                return chain(node, Operation::less_or_equal, false);
            case AST_RELATIONAL_GEQ:
                return chain(node, Operation::less_or_equal, true);
            case AST_RELATIONAL_EQ:
                return chain(node, Operation::equal, false);
            case AST_RELATIONAL_NEQ:
                return two(node, Operation::unequal);
            default:
                break;
        }
        throw GraphError(fmt::format("'{}' is not supported", text_of(node)));
    }

    const Meaning& meaning_;
    std::size_t operands_ = 0;  // so far
};

}  // namespace

Expression expression_of(const ASTNode& node, const Meaning& meaning) {
    return Converter(meaning).convert(node);
}

}  // namespace strid::ssa
