// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <strid/table/expression.hpp>

#include "decimal.hpp"
#include "expression_node.hpp"
#include "value_text.hpp"

namespace strid::table {

namespace detail {

Expression make_expression(ExpressionNode node) {
    constexpr std::size_t bytes_of_node = 16;
    const auto* const text = std::get_if<std::string>(&node.value);
    node.size = bytes_of_node + node.name.size() + (text == nullptr ? 0 : text->size());
    for (const Expression& part : node.parts) {
        node.levels = std::max(node.levels, part.node().levels + 1);
        node.size += part.node().size;
    }
    const auto refuse = [&node](const std::string& reason) {
        throw ExpressionError(fmt::format(
            "{}{}", node.place == 0 ? "" : fmt::format("column {}: ", node.place), reason));
    };
    if (node.levels > Expression::depth_max) {
        refuse(fmt::format("an expression has more than {} levels", Expression::depth_max));
    }
    if (node.size > Expression::bytes_max) {
        refuse("an expression is too large where each part is written that it repeats");
    }
    return Expression(std::make_shared<const ExpressionNode>(std::move(node)));
}

std::string_view sign_of(Operation operation) noexcept {
    switch (operation) {
        case Operation::add:
            return "+";
        case Operation::subtract:
            return "-";
        case Operation::multiply:
            return "*";
        case Operation::divide:
            return "/";
        case Operation::remainder:
            return "%";
        case Operation::concat:
            return "||";
        case Operation::equal:
            return "=";
        case Operation::unequal:
            return "<>";
        case Operation::less:
            return "<";
        case Operation::less_or_equal:
            return "<=";
        case Operation::greater:
            return ">";
        case Operation::greater_or_equal:
            return ">=";
        case Operation::both:
            return "and";
        case Operation::either:
            return "or";
        default:
            return {};
    }
}

std::string quoted(std::string_view text, char quote) {
    std::string result(1, quote);
    for (const char c : text) {
        if (c == quote) result += quote;
        result += c;
    }
    return result += quote;
}

namespace {

template <class Value>
Expression literal(Value value) {
    ExpressionNode node;
    node.value = std::move(value);
    return make_expression(std::move(node));
}

Expression joined(Operation operation, std::vector<Expression> parts) {
    ExpressionNode node;
    node.operation = operation;
    node.parts = std::move(parts);
    return make_expression(std::move(node));
}

std::string text_of_literal(const Literal& literal) {
    return std::visit(
        []<class Value>(const Value& value) -> std::string {
            std::string text;
            if constexpr (std::is_same_v<Value, NoValue>) {
                return "null";
            } else if constexpr (std::is_same_v<Value, bool>) {
                return value ? "true" : "false";
            } else if constexpr (std::is_same_v<Value, std::int64_t>) {
                return fmt::format("{}", value);
            } else if constexpr (std::is_same_v<Value, double>) {
                text = fmt::format("{}", value);
                return text.find_first_of("en") == std::string::npos ? text + "e0" : text;
            } else if constexpr (std::is_same_v<Value, DecimalValue>) {
                append_decimal(text, value.units, value.scale);
                return value.scale == 0 ? text + '.' : text;
            } else if constexpr (std::is_same_v<Value, std::string>) {
                return quoted(value, '\'');
            } else if constexpr (std::is_same_v<Value, EventTime>) {
                append_time_text(text, value.ns());
                return "time '" + text + '\'';
            } else {
                append_interval_text(text, value.count());
                return "interval '" + text + '\'';
            }
        },
        literal);
}

// A number below zero, which would otherwise join the sign before it.
bool needs_brackets(const ExpressionNode& node) {
    return node.operation != Operation::literal && node.operation != Operation::column &&
           node.operation != Operation::cast && node.operation != Operation::coalesce &&
           node.operation != Operation::case_when;
}

std::string part_text(const Expression& part) {
    const std::string text = text_of(part.node());
    return needs_brackets(part.node()) ? '(' + text + ')' : text;
}

std::string text_of_case(const ExpressionNode& node) {
    std::string text = "case";
    for (std::size_t i = 0; i + 1 < node.parts.size(); i += 2) {
        text += " when " + part_text(node.parts[i]) + " then " + part_text(node.parts[i + 1]);
    }
    return text + " else " + part_text(node.parts.back()) + " end";
}

std::string text_of_coalesce(const ExpressionNode& node) {
    std::string text;
    for (const Expression& part : node.parts) {
        text += (text.empty() ? "" : ", ") + text_of(part.node());
    }
    return "coalesce(" + text + ')';
}

void find_columns(const ExpressionNode& node, std::set<std::string_view>& seen,
                  std::vector<std::string>& names) {
    if (node.operation == Operation::column && seen.insert(node.name).second) {
        names.push_back(node.name);
    }
    for (const Expression& part : node.parts) find_columns(part.node(), seen, names);
}

}  // namespace

std::string text_of(const ExpressionNode& node) {
    switch (node.operation) {
        case Operation::column:
            return is_plain_name(node.name) ? node.name : quoted(node.name, '"');
        case Operation::literal:
            return text_of_literal(node.value);
        case Operation::negation:
            return "not " + part_text(node.parts[0]);
        case Operation::is_null:
            return part_text(node.parts[0]) + " is null";
        case Operation::is_not_null:
            return part_text(node.parts[0]) + " is not null";
        case Operation::cast:
            return "cast(" + text_of(node.parts[0].node()) + " as " + name_of(node.type) + ')';
        case Operation::case_when:
            return text_of_case(node);
        case Operation::coalesce:
            return text_of_coalesce(node);
        default:
            return part_text(node.parts[0]) + ' ' + std::string(sign_of(node.operation)) + ' ' +
                   part_text(node.parts[1]);
    }
}

}  // namespace detail

using detail::Operation;

Expression::Expression() : Expression(detail::literal(detail::NoValue{})) {}
Expression::Expression(std::string_view text) : Expression(detail::literal(std::string(text))) {}
Expression::Expression(EventTime time) : Expression(detail::literal(time)) {}
Expression::Expression(Duration interval) : Expression(detail::literal(interval)) {}
Expression Expression::of_bool(bool value) {
    return detail::literal(value);
}
Expression Expression::of_int(std::int64_t value) {
    return detail::literal(value);
}
Expression Expression::of_double(double value) {
    if (!std::isfinite(value)) throw ExpressionError("a literal is a finite number");
    return detail::literal(value);
}
Expression Expression::beyond_int64() {
    throw ExpressionError("a number is beyond int64");
}

Expression Expression::is_null() const {
    return detail::joined(Operation::is_null, {*this});
}
Expression Expression::is_not_null() const {
    return detail::joined(Operation::is_not_null, {*this});
}
Expression Expression::as(Type type) const {
    detail::ExpressionNode node;
    node.operation = Operation::cast;
    node.parts = {*this};
    node.type = type;
    return detail::make_expression(std::move(node));
}
std::string Expression::text() const {
    return detail::text_of(*node_);
}
std::vector<std::string> Expression::columns() const {
    std::vector<std::string> names;
    std::set<std::string_view> seen;
    detail::find_columns(*node_, seen, names);
    return names;
}

Expression operator+(const Expression& a, const Expression& b) {
    return detail::joined(Operation::add, {a, b});
}
Expression operator-(const Expression& a, const Expression& b) {
    return detail::joined(Operation::subtract, {a, b});
}
Expression operator*(const Expression& a, const Expression& b) {
    return detail::joined(Operation::multiply, {a, b});
}
Expression operator/(const Expression& a, const Expression& b) {
    return detail::joined(Operation::divide, {a, b});
}
Expression operator%(const Expression& a, const Expression& b) {
    return detail::joined(Operation::remainder, {a, b});
}
Expression operator-(const Expression& a) {
    return detail::joined(Operation::multiply, {a, Expression(-1)});
}
Expression operator==(const Expression& a, const Expression& b) {
    return detail::joined(Operation::equal, {a, b});
}
Expression operator!=(const Expression& a, const Expression& b) {
    return detail::joined(Operation::unequal, {a, b});
}
Expression operator<(const Expression& a, const Expression& b) {
    return detail::joined(Operation::less, {a, b});
}
Expression operator<=(const Expression& a, const Expression& b) {
    return detail::joined(Operation::less_or_equal, {a, b});
}
Expression operator>(const Expression& a, const Expression& b) {
    return detail::joined(Operation::greater, {a, b});
}
Expression operator>=(const Expression& a, const Expression& b) {
    return detail::joined(Operation::greater_or_equal, {a, b});
}
Expression operator&&(const Expression& a, const Expression& b) {
    return detail::joined(Operation::both, {a, b});
}
Expression operator||(const Expression& a, const Expression& b) {
    return detail::joined(Operation::either, {a, b});
}
Expression operator!(const Expression& a) {
    return detail::joined(Operation::negation, {a});
}

Expression col(std::string_view name) {
    detail::ExpressionNode node;
    node.operation = Operation::column;
    node.name = name;
    return detail::make_expression(std::move(node));
}
Expression concat(const Expression& a, const Expression& b) {
    return detail::joined(Operation::concat, {a, b});
}
Expression coalesce(std::vector<Expression> values) {
    if (values.empty()) throw ExpressionError("coalesce has no value");
    return detail::joined(Operation::coalesce, std::move(values));
}
Expression case_when(std::vector<When> branches, Expression otherwise) {
    if (branches.empty()) throw ExpressionError("case has no condition");
    std::vector<Expression> parts;
    for (When& branch : branches) {
        parts.push_back(std::move(branch.condition));
        parts.push_back(std::move(branch.value));
    }
    parts.push_back(std::move(otherwise));
    return detail::joined(Operation::case_when, std::move(parts));
}

}  // namespace strid::table
