// SPDX-License-Identifier: Apache-2.0
#include "sbml_math.hpp"

#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::ssa {

namespace {

// Of one expression: folding makes chains of them, which are walked by recursion.
constexpr std::size_t operands_max = 10'000;

std::string text_of(const ASTNode& node) {
    const std::unique_ptr<char, decltype(&std::free)> text(SBML_formulaToString(&node), &std::free);
    std::string made = text ? text.get() : "?";
    if (made.size() > 60) made = made.substr(0, 57) + "...";
    return made;
}

const char* function_name(ASTNodeType_t type) {
    switch (type) {
        case AST_FUNCTION_ABS:
            return "abs";
        case AST_FUNCTION_ARCCOS:
            return "acos";
        case AST_FUNCTION_ARCSIN:
            return "asin";
        case AST_FUNCTION_ARCTAN:
            return "atan";
        case AST_FUNCTION_CEILING:
            return "ceil";
        case AST_FUNCTION_COS:
            return "cos";
        case AST_FUNCTION_COSH:
            return "cosh";
        case AST_FUNCTION_EXP:
            return "exp";
        case AST_FUNCTION_FLOOR:
            return "floor";
        case AST_FUNCTION_LN:
            return "ln";
        case AST_FUNCTION_SIN:
            return "sin";
        case AST_FUNCTION_SINH:
            return "sinh";
        case AST_FUNCTION_TAN:
            return "tan";
        case AST_FUNCTION_TANH:
            return "tanh";
        case AST_LOGICAL_NOT:
            return "not";
        default:
            return nullptr;
    }
}

class Converter {
  public:
    explicit Converter(const Meaning& meaning) : meaning_(meaning) {}

    [[nodiscard]] Expression convert(const ASTNode& node) {
        const ASTNodeType_t type = node.getType();
        operands_ += node.getNumChildren();
        if (operands_ > operands_max) {
            throw GraphError(fmt::format("math with more than {} operands", operands_max));
        }
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
                return meaning_(node.getName());
            case AST_NAME_TIME:
                throw GraphError("a rate that depends on time is not supported");
            case AST_FUNCTION_DELAY:
                throw GraphError("a delay is not supported");
            case AST_FUNCTION:
                throw GraphError(fmt::format("unknown function '{}'", node.getName()));
            case AST_FUNCTION_PIECEWISE:
                return piecewise(node);
            default:
                return of_several(node);
        }
    }

  private:
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
