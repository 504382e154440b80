// SPDX-License-Identifier: Apache-2.0
#include "typed.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "decimal.hpp"
#include "value_text.hpp"

namespace strid::table::detail {

namespace {

std::string place_of(const ExpressionNode& node) {
    return node.place == 0 ? "" : fmt::format("column {}: ", node.place);
}

}  // namespace

std::string shown(const ExpressionNode& node) {
    std::string text = text_of(node);
    if (text.size() > 120) text = text.substr(0, 117) + "...";
    return place_of(node) + text;
}

namespace {

[[noreturn]] void refuse(const ExpressionNode& node, const std::string& reason) {
    throw ExpressionError(fmt::format("{}: {}", shown(node), reason));
}

bool is_number(Type type) {
    return type.kind == Kind::int64 || type.kind == Kind::float64 || type.kind == Kind::decimal;
}

Type type_of_literal(const Literal& literal) {
    return std::visit(
        []<class Value>(const Value& value) -> Type {
            if constexpr (std::is_same_v<Value, bool>) {
                return {Kind::boolean};
            } else if constexpr (std::is_same_v<Value, std::int64_t>) {
                return {Kind::int64};
            } else if constexpr (std::is_same_v<Value, double>) {
                return {Kind::float64};
            } else if constexpr (std::is_same_v<Value, DecimalValue>) {
                return {Kind::decimal, value.scale};
            } else if constexpr (std::is_same_v<Value, EventTime>) {
                return {Kind::time};
            } else if constexpr (std::is_same_v<Value, Duration>) {
                return {Kind::interval};
            } else {
                return {Kind::text};  // and NULL, until it meets another type
            }
        },
        literal);
}

/// Whether a value of one type may be cast to another.
bool can_be_cast(Type from, Type to) {
    if (from.kind == to.kind || from.kind == Kind::text || to.kind == Kind::text) return true;
    if (is_number(from) && is_number(to)) return true;
    return (from.kind == Kind::boolean && to.kind == Kind::int64) ||
           (from.kind == Kind::int64 && to.kind == Kind::boolean);
}

Typed cast_to(Typed part, Type type, const ExpressionNode& node) {
    if (part.is_null_literal) {
        part.type = type;
        return part;
    }
    if (part.type == type) return part;
    Typed cast;
    cast.operation = Operation::cast;
    cast.type = type;
    cast.node = &node;
    cast.parts.push_back(std::move(part));
    return cast;
}

bool is_text_literal(const Typed& part) {
    return part.operation == Operation::literal && part.type.kind == Kind::text;
}

/// The type that both are compared in, or that one of them is chosen in.
std::optional<Type> common_type(const Typed& a, const Typed& b) {
    if (a.is_null_literal) return b.type;
    if (b.is_null_literal || a.type == b.type) return a.type;
    const auto is_time = [](Type type) {
        return type.kind == Kind::time || type.kind == Kind::interval;
    };
    if (is_text_literal(a) && is_time(b.type)) return b.type;
    if (is_text_literal(b) && is_time(a.type)) return a.type;
    if (!is_number(a.type) || !is_number(b.type)) return std::nullopt;
    if (a.type.kind == Kind::float64 || b.type.kind == Kind::float64) return Type{Kind::float64};
    return Type{Kind::decimal, std::max(a.type.scale, b.type.scale)};
}

class Checker {
  public:
    explicit Checker(const Schema& schema) : schema_(schema) {}

    Typed check(const ExpressionNode& node) {
        Typed typed;
        typed.operation = node.operation;
        typed.node = &node;
        for (const Expression& part : node.parts) typed.parts.push_back(check(part.node()));
        switch (node.operation) {
            case Operation::column:
                check_column(typed);
                break;
            case Operation::literal:
                typed.value = node.value;
                typed.type = type_of_literal(node.value);
                typed.is_null_literal = std::holds_alternative<NoValue>(node.value);
                break;
            case Operation::both:
            case Operation::either:
            case Operation::negation:
                for (Typed& part : typed.parts) demand(part, {Kind::boolean}, node);
                typed.type = {Kind::boolean};
                break;
            case Operation::is_null:
            case Operation::is_not_null:
                typed.type = {Kind::boolean};
                break;
            case Operation::concat:
                for (Typed& part : typed.parts) demand(part, {Kind::text}, node);
                typed.type = {Kind::text};
                break;
            case Operation::cast:
                return check_cast(std::move(typed));
            case Operation::case_when:
                check_case(typed);
                break;
            case Operation::coalesce:
                unify(typed, 0, 1);
                break;
            case Operation::add:
            case Operation::subtract:
            case Operation::multiply:
            case Operation::divide:
            case Operation::remainder:
                check_arithmetic(typed);
                break;
            default:
                unify(typed, 0, 1);
                for (Typed& part : typed.parts) {
                    part.is_compared = part.operation == Operation::cast && part.node == &node;
                }
                typed.type = {Kind::boolean};
        }
        return typed;
    }

  private:
    void check_column(Typed& typed) {
        const auto place = schema_.find(typed.node->name);
        if (!place) {
            throw ExpressionError(fmt::format("{}there is no column '{}'; there are: {}",
                                              place_of(*typed.node), typed.node->name,
                                              schema_.size() == 0 ? "none" : schema_.text()));
        }
        typed.column = *place;
        typed.type = schema_[*place].type;
    }

    static void demand(Typed& part, Type type, const ExpressionNode& node) {
        if (part.is_null_literal) part.type = type;
        if (part.type.kind != type.kind) {
            refuse(*part.node,
                   fmt::format("is {}, where {} takes {}", name_of(part.type),
                               node.operation == Operation::negation    ? "not"
                               : node.operation == Operation::case_when ? "a condition of case"
                                                                        : sign_of(node.operation),
                               name_of(type)));
        }
    }

    Typed check_cast(Typed typed) {
        const Type to = typed.node->type;
        if (to.scale > decimal_digits) {
            refuse(*typed.node, "a decimal has at most 18 digits");
        }
        const Typed& part = typed.parts[0];
        if (!part.is_null_literal && !can_be_cast(part.type, to)) {
            refuse(*typed.node,
                   fmt::format("{} cannot become {}", name_of(part.type), name_of(to)));
        }
        return cast_to(std::move(typed.parts[0]), to, *typed.node);
    }

    void check_case(Typed& typed) {
        for (std::size_t i = 0; i + 1 < typed.parts.size(); i += 2) {
            demand(typed.parts[i], {Kind::boolean}, *typed.node);
        }
        unify(typed, 1, 2);
    }

    /// Parts from `first` on, each `step`th, and the last get one type, which the whole has.
    static void unify(Typed& typed, std::size_t first, std::size_t step) {
        auto& parts = typed.parts;
        std::vector<std::size_t> places;
        for (std::size_t i = first; i < parts.size(); i += step) places.push_back(i);
        if (places.empty() || places.back() + 1 != parts.size()) places.push_back(parts.size() - 1);
        Typed common;  // without parts, which it needs not
        common.operation = parts[places[0]].operation;
        common.type = parts[places[0]].type;
        common.is_null_literal = parts[places[0]].is_null_literal;
        for (const std::size_t place : places) {
            const auto type = common_type(common, parts[place]);
            if (!type) {
                refuse(*typed.node, fmt::format("{} and {} are no values of one type",
                                                name_of(common.type), name_of(parts[place].type)));
            }
            const bool is_literal = is_text_literal(common) && is_text_literal(parts[place]);
            common.is_null_literal = common.is_null_literal && parts[place].is_null_literal;
            if (!is_literal && !common.is_null_literal) common.operation = Operation::column;
            common.type = *type;
        }
        for (const std::size_t place : places) {
            parts[place] = cast_to(std::move(parts[place]), common.type, *typed.node);
        }
        typed.type = common.type;
        const bool is_choice =
            typed.operation == Operation::case_when || typed.operation == Operation::coalesce;
        if (is_choice && common.is_null_literal) become_null(typed);
    }
    /// NULL whatever is chosen: a literal, which has the type that it meets.
    static void become_null(Typed& typed) {
        typed.operation = Operation::literal;
        typed.value = NoValue{};
        typed.is_null_literal = true;
        typed.parts.clear();
    }

    [[noreturn]] static void refuse_types(const Typed& typed) {
        refuse(*typed.node, fmt::format("there is no {} {} {}", name_of(typed.parts[0].type),
                                        sign_of(typed.operation), name_of(typed.parts[1].type)));
    }

    static void check_arithmetic(Typed& typed) {
        Typed& a = typed.parts[0];
        Typed& b = typed.parts[1];
        const bool adds = typed.operation == Operation::add;
        const bool subtracts = typed.operation == Operation::subtract;
        const auto meets_time = [](const Typed& part, const Typed& other) {
            return other.type.kind == Kind::time || other.type.kind == Kind::interval
                       ? part.is_null_literal || is_text_literal(part)
                       : false;
        };
        // A literal beside a time is an interval: that is the only reading of a sum of both.
        if ((adds || subtracts) && meets_time(b, a)) b = cast_to(b, {Kind::interval}, *typed.node);
        if (adds && meets_time(a, b)) a = cast_to(a, {Kind::interval}, *typed.node);
        if (subtracts && meets_time(a, b) && a.is_null_literal) a.type = b.type;
        const Kind left = a.type.kind;
        const Kind right = b.type.kind;
        const bool scales = !adds && !subtracts;
        if (scales && left == Kind::interval && b.is_null_literal) b.type = {Kind::int64};
        if (scales && right == Kind::interval && a.is_null_literal) a.type = {Kind::int64};
        if (left == Kind::time || right == Kind::time || left == Kind::interval ||
            right == Kind::interval) {
            return check_times(typed);
        }
        if (a.is_null_literal && b.is_null_literal) a.type = b.type = {Kind::int64};
        if (a.is_null_literal) a.type = b.type;
        if (b.is_null_literal) b.type = a.type;
        const auto type = common_type(a, b);
        if (!type || !is_number(*type)) refuse_types(typed);
        check_numbers(typed, *type);
    }

    static void check_numbers(Typed& typed, Type type) {
        Typed& a = typed.parts[0];
        Typed& b = typed.parts[1];
        if (type.kind == Kind::decimal && typed.operation == Operation::divide) {
            type = {Kind::float64};
        }
        if (type.kind != Kind::decimal || typed.operation != Operation::multiply) {
            a = cast_to(std::move(a), type, *typed.node);
            b = cast_to(std::move(b), type, *typed.node);
            typed.type = type;
            return;
        }
        const unsigned scale = a.type.scale + b.type.scale;  // of an integer it is 0
        if (scale > decimal_digits) {
            refuse(*typed.node, fmt::format("the product has {} digits behind the point, of {} at "
                                            "most: cast a factor to float64, or to fewer digits",
                                            scale, decimal_digits));
        }
        a = cast_to(std::move(a), {Kind::decimal, a.type.scale}, *typed.node);
        b = cast_to(std::move(b), {Kind::decimal, b.type.scale}, *typed.node);
        typed.type = {Kind::decimal, static_cast<std::uint8_t>(scale)};
    }

    static void check_times(Typed& typed) {
        const Kind left = typed.parts[0].type.kind;
        const Kind right = typed.parts[1].type.kind;
        const auto are = [&](Kind a, Kind b) { return left == a && right == b; };
        std::optional<Kind> kind;
        switch (typed.operation) {
            case Operation::add:
                if (are(Kind::time, Kind::interval) || are(Kind::interval, Kind::time)) {
                    kind = Kind::time;
                } else if (are(Kind::interval, Kind::interval)) {
                    kind = Kind::interval;
                }
                break;
            case Operation::subtract:
                if (are(Kind::time, Kind::interval)) {
                    kind = Kind::time;
                } else if (are(Kind::time, Kind::time) || are(Kind::interval, Kind::interval)) {
                    kind = Kind::interval;
                }
                break;
            case Operation::multiply:
                if (are(Kind::interval, Kind::int64) || are(Kind::int64, Kind::interval)) {
                    kind = Kind::interval;
                }
                break;
            default:
                if (are(Kind::interval, Kind::int64)) kind = Kind::interval;
        }
        if (!kind) refuse_types(typed);
        typed.type = {*kind};
    }

    const Schema& schema_;
};

}  // namespace

Typed check(const Expression& expression, const Schema& schema) {
    return Checker(schema).check(expression.node());
}

}  // namespace strid::table::detail
