// SPDX-License-Identifier: Apache-2.0
//
// Reads an expression by recursive descent, a function for each level of binding:
// or, and, not, comparisons, ||, + -, * / %, the sign of a number, what stands alone.
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <strid/table/expression.hpp>

#include "decimal.hpp"
#include "expression_node.hpp"
#include "expression_tokens.hpp"
#include "value_text.hpp"

namespace strid::table {

namespace detail {

namespace {

class Parser {
  public:
    explicit Parser(std::string_view text) : tokens_(text) {}

    Expression parse() {
        Expression expression = parse_or();
        if (tokens_.now().kind != Token::Kind::end) tokens_.refuse_now("an operator or the end");
        return expression;
    }

  private:
    /// Brackets and signs within each other, which make no node.
    class Nested {
      public:
        explicit Nested(Parser& parser) : parser_(parser) {
            if (++parser_.depth_ > Expression::depth_max) {
                parser_.tokens_.refuse(parser_.tokens_.now().place, "nested too deeply");
            }
        }
        Nested(const Nested&) = delete;
        Nested& operator=(const Nested&) = delete;
        ~Nested() { --parser_.depth_; }

      private:
        Parser& parser_;
    };

    static Expression node(std::size_t place, Operation operation, std::vector<Expression> parts) {
        ExpressionNode made;
        made.operation = operation;
        made.parts = std::move(parts);
        made.place = place;
        return make_expression(std::move(made));
    }
    template <class Value>
    static Expression literal(std::size_t place, Value value) {
        ExpressionNode made;
        made.value = std::move(value);
        made.place = place;
        return make_expression(std::move(made));
    }

    Expression parse_or() {
        const Nested nested(*this);
        Expression left = parse_and();
        while (tokens_.is("or")) {
            const std::size_t place = tokens_.take().place;
            left = node(place, Operation::either, {left, parse_and()});
        }
        return left;
    }
    Expression parse_and() {
        Expression left = parse_not();
        while (tokens_.is("and")) {
            const std::size_t place = tokens_.take().place;
            left = node(place, Operation::both, {left, parse_not()});
        }
        return left;
    }
    Expression parse_not() {
        if (!tokens_.is("not")) return parse_comparison();
        const Nested nested(*this);
        const std::size_t place = tokens_.take().place;
        return node(place, Operation::negation, {parse_not()});
    }

    std::optional<Operation> comparison() const {
        for (const auto& [sign, operation] :
             {std::pair{"=", Operation::equal}, std::pair{"==", Operation::equal},
              std::pair{"<>", Operation::unequal}, std::pair{"!=", Operation::unequal},
              std::pair{"<", Operation::less}, std::pair{"<=", Operation::less_or_equal},
              std::pair{">", Operation::greater}, std::pair{">=", Operation::greater_or_equal}}) {
            if (tokens_.is(sign)) return operation;
        }
        return std::nullopt;
    }

    Expression parse_comparison() {
        Expression left = parse_concat();
        for (;;) {
            const std::size_t place = tokens_.now().place;
            if (const auto operation = comparison()) {
                (void)tokens_.take();
                left = node(place, *operation, {left, parse_concat()});
            } else if (tokens_.take_if("is")) {
                const bool is_not = tokens_.take_if("not");
                tokens_.expect("null");
                left = node(place, is_not ? Operation::is_not_null : Operation::is_null, {left});
            } else if (tokens_.is("between") || tokens_.is("in") || tokens_.is("not")) {
                const bool is_not = tokens_.take_if("not");
                left =
                    tokens_.take_if("between") ? parse_between(place, left) : parse_in(place, left);
                if (is_not) left = node(place, Operation::negation, {left});
            } else {
                return left;
            }
        }
    }
    Expression parse_between(std::size_t place, const Expression& value) {
        const Expression low = parse_concat();
        tokens_.expect("and");
        const Expression high = parse_concat();
        return node(place, Operation::both,
                    {node(place, Operation::greater_or_equal, {value, low}),
                     node(place, Operation::less_or_equal, {value, high})});
    }
    Expression parse_in(std::size_t place, const Expression& value) {
        tokens_.expect("in");
        tokens_.expect("(");
        std::vector<Expression> found;
        do {
            found.push_back(node(place, Operation::equal, {value, parse_or()}));
        } while (tokens_.take_if(","));
        tokens_.expect(")");
        // Halves of halves: a long list has few levels.
        for (; found.size() > 1; found.resize((found.size() + 1) / 2)) {
            for (std::size_t i = 0; i != found.size() / 2; ++i) {
                found[i] = node(place, Operation::either, {found[2 * i], found[2 * i + 1]});
            }
            if (found.size() % 2 == 1) found[found.size() / 2] = found.back();
        }
        return found.front();
    }

    Expression parse_concat() {
        Expression left = parse_sum();
        while (tokens_.is("||")) {
            const std::size_t place = tokens_.take().place;
            left = node(place, Operation::concat, {left, parse_sum()});
        }
        return left;
    }
    Expression parse_sum() {
        Expression left = parse_product();
        while (tokens_.is("+") || tokens_.is("-")) {
            const Token sign = tokens_.take();
            left = node(sign.place, sign.text == "+" ? Operation::add : Operation::subtract,
                        {left, parse_product()});
        }
        return left;
    }
    Expression parse_product() {
        Expression left = parse_signed();
        while (tokens_.is("*") || tokens_.is("/") || tokens_.is("%")) {
            const Token sign = tokens_.take();
            const Operation operation = sign.text == "*"   ? Operation::multiply
                                        : sign.text == "/" ? Operation::divide
                                                           : Operation::remainder;
            left = node(sign.place, operation, {left, parse_signed()});
        }
        return left;
    }
    Expression parse_signed() {
        if (!tokens_.is("-") && !tokens_.is("+")) return parse_alone();
        const Nested nested(*this);
        const Token sign = tokens_.take();
        const bool is_minus = sign.text == "-";
        if (tokens_.now().kind == Token::Kind::number) {
            return number(tokens_.take(), is_minus, sign.place);
        }
        Expression part = parse_signed();
        if (!is_minus) return part;
        return node(sign.place, Operation::multiply, {part, literal(sign.place, std::int64_t{-1})});
    }

    Expression number(const Token& token, bool is_minus, std::size_t place) const {
        const std::string text = (is_minus ? "-" : "") + token.text;
        if (text.find_first_of("eE") != std::string::npos) {
            double value = 0;
            const char* const fault = read_value(text, {Kind::float64}, &value, 0);
            if (fault != nullptr) tokens_.refuse(place, fmt::format("{}: {}", text, fault));
            return literal(place, value);
        }
        const std::size_t point = text.find('.');
        if (point == std::string::npos) {
            std::int64_t value = 0;
            const char* const fault = read_value(text, {Kind::int64}, &value, 0);
            if (fault != nullptr) tokens_.refuse(place, fmt::format("{}: {}", text, fault));
            return literal(place, value);
        }
        const std::size_t scale = text.size() - point - 1;
        if (scale <= decimal_digits) {
            const auto units = read_decimal(text, static_cast<unsigned>(scale));
            if (units) {
                return literal(place, DecimalValue{*units, static_cast<std::uint8_t>(scale)});
            }
        }
        tokens_.refuse(place, text +
                                  ": a decimal has at most 18 digits; one with an exponent, "
                                  "such as 1.5e0, is a float64");
    }

    Expression parse_alone() {
        const std::size_t place = tokens_.now().place;
        switch (tokens_.now().kind) {
            case Token::Kind::number:
                return number(tokens_.take(), false, place);
            case Token::Kind::text:
                return literal(place, tokens_.take().text);
            case Token::Kind::name:
                return column(place, tokens_.take().text);
            case Token::Kind::word:
                return parse_word();
            default:
                break;
        }
        if (!tokens_.take_if("(")) tokens_.refuse_now("a value");
        Expression inner = parse_or();
        tokens_.expect(")");
        return inner;
    }
    static Expression column(std::size_t place, std::string name) {
        ExpressionNode made;
        made.operation = Operation::column;
        made.name = std::move(name);
        made.place = place;
        return make_expression(std::move(made));
    }

    Expression parse_word() {
        const std::size_t place = tokens_.now().place;
        const bool is_call = tokens_.next().kind == Token::Kind::sign && tokens_.next().text == "(";
        const bool is_typed = tokens_.next().kind == Token::Kind::text;
        if (tokens_.take_if("true")) return literal(place, true);
        if (tokens_.take_if("false")) return literal(place, false);
        if (tokens_.take_if("null")) return literal(place, NoValue{});
        if (tokens_.take_if("case")) return parse_case(place);
        if (is_call && tokens_.take_if("cast")) return parse_cast(place);
        if (is_call && tokens_.take_if("coalesce")) return parse_coalesce(place);
        if (is_call) {
            tokens_.refuse(place, fmt::format("there is no function {}; there are: cast, coalesce",
                                              tokens_.now().written));
        }
        if (is_typed && (tokens_.is("time") || tokens_.is("interval"))) return parse_typed(place);
        if (!is_plain_name(tokens_.now().text)) tokens_.refuse_now("a value");
        return column(place, tokens_.take().written);
    }
    Expression parse_typed(std::size_t place) {
        const Kind kind = tokens_.take().text == "time" ? Kind::time : Kind::interval;
        std::int64_t ns = 0;
        const char* const fault = read_value(tokens_.now().text, {kind}, &ns, 0);
        if (fault != nullptr) {
            tokens_.refuse(tokens_.now().place,
                           fmt::format("{}: {}", tokens_.now().written, fault));
        }
        (void)tokens_.take();
        if (kind == Kind::time) return literal(place, EventTime::of_ns(ns));
        return literal(place, Duration{ns});
    }

    Expression parse_case(std::size_t place) {
        std::vector<Expression> parts;
        std::optional<Expression> value;  // of `case x when 1`
        if (!tokens_.is("when")) value = parse_or();
        if (!tokens_.is("when")) tokens_.refuse_now("when");
        while (tokens_.take_if("when")) {
            Expression condition = parse_or();
            parts.push_back(value ? node(place, Operation::equal, {*value, condition}) : condition);
            tokens_.expect("then");
            parts.push_back(parse_or());
        }
        parts.push_back(tokens_.take_if("else") ? parse_or() : literal(place, NoValue{}));
        tokens_.expect("end");
        return node(place, Operation::case_when, std::move(parts));
    }

    Expression parse_cast(std::size_t place) {
        tokens_.expect("(");
        Expression part = parse_or();
        tokens_.expect("as");
        const std::size_t place_of_type = tokens_.now().place;
        std::string name;
        while (tokens_.now().kind == Token::Kind::word) {
            name += (name.empty() ? "" : " ") + tokens_.take().text;
        }
        if (tokens_.take_if("(")) {
            name += '(' + tokens_.take().text + ')';
            tokens_.expect(")");
        }
        tokens_.expect(")");
        const auto type = type_named(name);
        if (!type) tokens_.refuse(place_of_type, fmt::format("there is no type \"{}\"", name));
        ExpressionNode made;
        made.operation = Operation::cast;
        made.parts = {std::move(part)};
        made.type = *type;
        made.place = place;
        return make_expression(std::move(made));
    }
    Expression parse_coalesce(std::size_t place) {
        tokens_.expect("(");
        std::vector<Expression> parts;
        do {
            parts.push_back(parse_or());
        } while (tokens_.take_if(","));
        tokens_.expect(")");
        return node(place, Operation::coalesce, std::move(parts));
    }

    Tokens tokens_;
    std::size_t depth_ = 0;
};

}  // namespace
}  // namespace detail

Expression parse_expression(std::string_view text) {
    return detail::Parser(text).parse();
}

}  // namespace strid::table
