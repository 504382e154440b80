// SPDX-License-Identifier: Apache-2.0
//
// The grammar of expressions in the text form of a model, by Boost.Spirit X3. An expression is
// folded while it is parsed. Constant values without state; the names of the model come with the
// call (x3::with<NamesTag>), and what they do not have is thrown as GraphError.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/fusion/include/at_c.hpp>
#include <boost/spirit/home/x3.hpp>
#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "network.hpp"

// The name of a parser without a name in a failed expectation: by what it begins with.
template <class Subject, class Action>
struct boost::spirit::x3::get_info<boost::spirit::x3::action<Subject, Action>> {
    using result_type = std::string;
    std::string operator()(const action<Subject, Action>& parser) const {
        return what(parser.subject);
    }
};
template <class Left, class Right>
struct boost::spirit::x3::get_info<boost::spirit::x3::list<Left, Right>> {
    using result_type = std::string;
    std::string operator()(const list<Left, Right>& parser) const { return what(parser.left); }
};
template <class Left, class Right>
struct boost::spirit::x3::get_info<boost::spirit::x3::sequence<Left, Right>> {
    using result_type = std::string;
    std::string operator()(const sequence<Left, Right>& parser) const { return what(parser.left); }
};
template <class Left, class Right>
struct boost::spirit::x3::get_info<boost::spirit::x3::alternative<Left, Right>> {
    using result_type = std::string;
    std::string operator()(const alternative<Left, Right>& parser) const {
        return what(parser.left) + " or " + what(parser.right);
    }
};
template <class Subject>
struct boost::spirit::x3::get_info<boost::spirit::x3::lexeme_directive<Subject>> {
    using result_type = std::string;
    std::string operator()(const lexeme_directive<Subject>& parser) const {
        return what(parser.subject);
    }
};

namespace strid::ssa::grammar {

namespace x3 = boost::spirit::x3;

/// The names of a model and their meanings so far.
struct Names {
    Network network;
    std::map<std::string, std::size_t> species;
    std::map<std::string, double> parameters;

    [[nodiscard]] std::vector<std::string> all() const {
        std::vector<std::string> names;
        for (const auto& [name, number] : species) names.push_back(name);
        for (const auto& [name, value] : parameters) names.push_back(name);
        return names;
    }
    [[nodiscard]] Expression named(const std::string& name) const {
        if (const auto at = parameters.find(name); at != parameters.end()) {
            return constant(at->second);
        }
        if (const auto at = species.find(name); at != species.end()) return count_of(at->second);
        throw GraphError(fmt::format("'{}' is neither a species nor a parameter{}", name,
                                     suggestion(name, all())));
    }
    [[nodiscard]] std::size_t species_named(const std::string& name) const {
        if (const auto at = species.find(name); at != species.end()) return at->second;
        std::vector<std::string> known;
        for (const Species& one : network.species) known.push_back(one.name);
        throw GraphError(fmt::format("unknown species '{}'{}", name, suggestion(name, known)));
    }
    void check_new(const std::string& name) const {
        if (species.contains(name) || parameters.contains(name)) {
            throw GraphError(fmt::format("'{}' is given twice", name));
        }
    }
};

struct NamesTag;

/// Digits, point and exponent; neither "inf" nor "nan", which are names.
struct PlainReal : x3::ureal_policies<double> {
    template <class Iterator, class Attribute>
    static bool parse_inf(Iterator& /*first*/, const Iterator& /*last*/, Attribute& /*value*/) {
        return false;
    }
    template <class Iterator, class Attribute>
    static bool parse_nan(Iterator& /*first*/, const Iterator& /*last*/, Attribute& /*value*/) {
        return false;
    }
};
inline const x3::real_parser<double, PlainReal> real{};

inline const auto set = [](auto& context) { x3::_val(context) = std::move(x3::_attr(context)); };
inline const auto set_number = [](auto& context) {
    const auto& range = x3::_attr(context);
    double value = 0;
    fast_float::from_chars(&*range.begin(), &*range.begin() + range.size(), value);
    if (!std::isfinite(value)) throw GraphError("a number is too large");
    x3::_val(context) = constant(value);
};
inline const auto set_named = [](auto& context) {
    const Names& names = x3::get<NamesTag>(context);
    x3::_val(context) = names.named(x3::_attr(context));
};
inline const auto negate = [](auto& context) {
    x3::_val(context) = call(function_named("negate"), std::move(x3::_attr(context)));
};
template <Operation operation>
inline const auto fold = [](auto& context) {
    Expression& left = x3::_val(context);
    left = combine(operation, std::move(left), std::move(x3::_attr(context)));
};
template <Operation operation>
inline const auto fold_reversed = [](auto& context) {
    Expression& left = x3::_val(context);
    left = combine(operation, std::move(x3::_attr(context)), std::move(left));
};

inline Expression call_named(const std::string& name, std::vector<Expression>& arguments) {
    const std::map<std::string_view, std::pair<Operation, std::size_t>> others{
        {"min", {Operation::minimum, 2}},
        {"max", {Operation::maximum, 2}},
        {"pow", {Operation::power, 2}},
        {"if", {Operation::select, 3}}};
    const Function function = function_named(name);
    const auto other = others.find(name);
    if (function == nullptr && other == others.end()) {
        std::vector<std::string> known = function_names();
        for (const auto& [word, meaning] : others) known.emplace_back(word);
        throw GraphError(fmt::format("unknown function '{}'{}", name, suggestion(name, known)));
    }
    const std::size_t wanted = function != nullptr ? 1 : other->second.second;
    if (arguments.size() != wanted) {
        throw GraphError(fmt::format("'{}' takes {} argument{}, not {}", name, wanted,
                                     wanted == 1 ? "" : "s", arguments.size()));
    }
    if (function != nullptr) return call(function, std::move(arguments[0]));
    if (wanted == 2) {
        return combine(other->second.first, std::move(arguments[0]), std::move(arguments[1]));
    }
    return select(std::move(arguments[0]), std::move(arguments[1]), std::move(arguments[2]));
}
inline const auto set_call = [](auto& context) {
    auto& attribute = x3::_attr(context);
    x3::_val(context) =
        call_named(boost::fusion::at_c<0>(attribute), boost::fusion::at_c<1>(attribute));
};

inline const x3::rule<class expression_rule, Expression> expression{"an expression"};
inline const x3::rule<class sum_rule, Expression> sum{"a term"};
inline const x3::rule<class product_rule, Expression> product{"a factor"};
inline const x3::rule<class signed_rule, Expression> signed_power{"a factor"};
inline const x3::rule<class power_rule, Expression> power{"a factor"};
inline const x3::rule<class primary_rule, Expression> primary{"a number, a name or '('"};
inline const x3::rule<class name_rule, std::string> name{"a name"};
inline const x3::rule<class close_rule> close{"')'"};

inline const auto letter = x3::alpha | x3::char_('_');
inline const auto keyword = x3::lexeme[x3::lit("rate") >> !(x3::alnum | x3::char_('_'))];
inline const auto name_def = !keyword >> x3::lexeme[letter >> *(x3::alnum | x3::char_('_'))];
inline const auto close_def = x3::lit(')');
inline const auto primary_def = x3::raw[x3::lexeme[real]][set_number] |
                                ((name >> '(') > (expression % ',') > close)[set_call] |
                                name[set_named] | ('(' > expression[set] > close);
inline const auto signed_primary = (x3::lit('-') > primary[negate]) | primary[set];
inline const x3::rule<class exponent_rule, Expression> exponent{"an exponent"};
inline const auto exponent_def = signed_primary;
inline const auto power_def = primary[set] >> -('^' > exponent[fold<Operation::power>]);
inline const auto signed_power_def = (x3::lit('-') > power[negate]) | power[set];
inline const auto product_def = signed_power[set] >>
                                *(('*' > signed_power[fold<Operation::multiply>]) |
                                  ('/' > signed_power[fold<Operation::divide>]));
inline const auto sum_def = product[set] >> *(('+' > product[fold<Operation::add>]) |
                                              ('-' > product[fold<Operation::subtract>]));
inline const auto expression_def = sum[set] >>
                                   -(("<=" > sum[fold<Operation::less_or_equal>]) |
                                     (">=" > sum[fold_reversed<Operation::less_or_equal>]) |
                                     ("==" > sum[fold<Operation::equal>]) |
                                     ("!=" > sum[fold<Operation::unequal>]) |
                                     ('<' > sum[fold<Operation::less>]) |
                                     ('>' > sum[fold_reversed<Operation::less>]));
BOOST_SPIRIT_DEFINE(expression, sum, product, signed_power, power, exponent, primary, name, close)

}  // namespace strid::ssa::grammar
