// SPDX-License-Identifier: Apache-2.0
//
// The text form of a model, line by line, by a grammar of Boost.Spirit X3. Names are looked up
// while a line is parsed; what is looked up in vain is thrown, and gets its line here.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <boost/fusion/include/at_c.hpp>
#include <boost/spirit/home/x3.hpp>
#include <fast_float/fast_float.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <strid/base/error.hpp>
#include <strid/graph/arguments.hpp>

#include "model.hpp"

// What a failed expectation calls a parser that has no name: by what it begins with.
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

namespace strid::ssa {

namespace {

namespace x3 = boost::spirit::x3;

// What a recursive grammar can take.
constexpr std::size_t line_bytes_max = 20'000;
constexpr int nesting_max = 100;

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

// ---- expressions -------------------------------------------------------------------------------

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
const x3::real_parser<double, PlainReal> real{};

const auto set = [](auto& context) { x3::_val(context) = std::move(x3::_attr(context)); };
const auto set_number = [](auto& context) {
    const auto& range = x3::_attr(context);
    double value = 0;
    fast_float::from_chars(&*range.begin(), &*range.begin() + range.size(), value);
    if (!std::isfinite(value)) throw GraphError("a number is too large");
    x3::_val(context) = constant(value);
};
const auto set_named = [](auto& context) {
    const Names& names = x3::get<NamesTag>(context);
    x3::_val(context) = names.named(x3::_attr(context));
};
const auto negate = [](auto& context) {
    x3::_val(context) = call(function_named("negate"), std::move(x3::_attr(context)));
};
template <Operation operation>
const auto fold = [](auto& context) {
    Expression& left = x3::_val(context);
    left = combine(operation, std::move(left), std::move(x3::_attr(context)));
};
template <Operation operation>
const auto fold_reversed = [](auto& context) {
    Expression& left = x3::_val(context);
    left = combine(operation, std::move(x3::_attr(context)), std::move(left));
};

Expression call_named(const std::string& name, std::vector<Expression>& arguments) {
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
const auto set_call = [](auto& context) {
    auto& attribute = x3::_attr(context);
    x3::_val(context) =
        call_named(boost::fusion::at_c<0>(attribute), boost::fusion::at_c<1>(attribute));
};

const x3::rule<class expression_rule, Expression> expression{"an expression"};
const x3::rule<class sum_rule, Expression> sum{"a term"};
const x3::rule<class product_rule, Expression> product{"a factor"};
const x3::rule<class signed_rule, Expression> signed_power{"a factor"};
const x3::rule<class power_rule, Expression> power{"a factor"};
const x3::rule<class primary_rule, Expression> primary{"a number, a name or '('"};
const x3::rule<class name_rule, std::string> name{"a name"};
const x3::rule<class close_rule> close{"')'"};

const auto letter = x3::alpha | x3::char_('_');
const auto keyword = x3::lexeme[x3::lit("rate") >> !(x3::alnum | x3::char_('_'))];
const auto name_def = !keyword >> x3::lexeme[letter >> *(x3::alnum | x3::char_('_'))];
const auto close_def = x3::lit(')');
const auto primary_def = x3::raw[x3::lexeme[real]][set_number] |
                         (name >> '(' > (expression % ',') > close)[set_call] | name[set_named] |
                         ('(' > expression[set] > close);
const auto signed_primary = (x3::lit('-') > primary[negate]) | primary[set];
const x3::rule<class exponent_rule, Expression> exponent{"an exponent"};
const auto exponent_def = signed_primary;
const auto power_def = primary[set] >> -('^' > exponent[fold<Operation::power>]);
const auto signed_power_def = (x3::lit('-') > power[negate]) | power[set];
const auto product_def = signed_power[set] >> *(('*' > signed_power[fold<Operation::multiply>]) |
                                                ('/' > signed_power[fold<Operation::divide>]));
const auto sum_def = product[set] >> *(('+' > product[fold<Operation::add>]) |
                                       ('-' > product[fold<Operation::subtract>]));
const auto expression_def = sum[set] >> -(("<=" > sum[fold<Operation::less_or_equal>]) |
                                          (">=" > sum[fold_reversed<Operation::less_or_equal>]) |
                                          ("==" > sum[fold<Operation::equal>]) |
                                          ("!=" > sum[fold<Operation::unequal>]) |
                                          ('<' > sum[fold<Operation::less>]) |
                                          ('>' > sum[fold_reversed<Operation::less>]));
BOOST_SPIRIT_DEFINE(expression, sum, product, signed_power, power, exponent, primary, name, close)

// ---- statements --------------------------------------------------------------------------------

double value_of(const Expression& made, const char* what) {
    if (!made.is_constant()) {
        throw GraphError(fmt::format("{} reads the count of a species{}", what,
                                     std::string_view(what) == "the constant of a reaction"
                                         ? ": a rate is given by `rate EXPRESSION`, not `@`"
                                         : ""));
    }
    if (!std::isfinite(made.value)) {
        throw GraphError(fmt::format("{} is no finite number: {}", what, made.value));
    }
    return made.value;
}

class TextModel {
  public:
    Network take() { return std::move(names_.network); }

    void read_line(std::string_view line) {
        line = line.substr(0, line.find('#'));
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) return;
        line = line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
        check_nesting(line);
        if (reads_word(line, "species")) return read_species(line);
        if (reads_word(line, "parameter")) return read_parameters(line);
        read_reaction(line);
    }

  private:
    static void check_nesting(std::string_view line) {
        if (line.size() > line_bytes_max) {
            throw GraphError(fmt::format("a line of more than {} bytes", line_bytes_max));
        }
        int open = 0;
        for (const char mark : line) {
            open += mark == '(' ? 1 : mark == ')' ? -1 : 0;
            if (open > nesting_max) {
                throw GraphError(
                    fmt::format("parentheses are nested more than {} deep", nesting_max));
            }
        }
    }
    /// A line that begins with the word is cut off behind it.
    static bool reads_word(std::string_view& line, std::string_view word) {
        if (!line.starts_with(word) || line.size() == word.size()) return false;
        if (line[word.size()] != ' ' && line[word.size()] != '\t') return false;
        // "species -> A" is a reaction of a species of this name, which no line can have made.
        line.remove_prefix(word.size());
        return true;
    }

    template <class Grammar>
    void parse(std::string_view line, const Grammar& grammar) {
        const char* at = line.data();
        const char* const end = at + line.size();
        const auto with_names = x3::with<NamesTag>(std::as_const(names_))[grammar];
        try {
            if (x3::phrase_parse(at, end, with_names, x3::blank) && at == end) return;
        } catch (const x3::expectation_failure<const char*>& failure) {
            const std::string_view rest(failure.where(),
                                        static_cast<std::size_t>(end - failure.where()));
            // What has no name is called by its type.
            if (failure.which().find("boost") != std::string::npos) {
                throw GraphError(fmt::format("not understood {}", place(rest)));
            }
            throw GraphError(fmt::format("{} is expected {}", failure.which(), place(rest)));
        }
        throw GraphError(
            fmt::format("not understood {}", place({at, static_cast<std::size_t>(end - at)})));
    }
    static std::string place(std::string_view rest) {
        const std::size_t begin = std::min(rest.find_first_not_of(" \t"), rest.size());
        rest.remove_prefix(begin);
        if (rest.empty()) return "at the end of the line";
        return fmt::format("at '{}{}'", rest.substr(0, 30), rest.size() > 30 ? "..." : "");
    }

    void read_species(std::string_view line) {
        std::string given;
        const auto is_name = [&](auto& context) { given = x3::_attr(context); };
        const auto is_count = [&](auto& context) {
            names_.check_new(given);
            const double count = value_of(x3::_attr(context), "an initial count");
            if (count < 0) {
                throw GraphError(
                    fmt::format("the initial count of '{}' is negative: {}", given, count));
            }
            if (count > count_max || count != std::floor(count)) {
                throw GraphError(
                    fmt::format("the initial count of '{}' is no whole number up to {}: {}", given,
                                count_max, count));
            }
            names_.species.emplace(given, names_.network.species.size());
            names_.network.species.push_back({given, count});
        };
        parse(line, (name[is_name] > equals > expression[is_count]) % ',');
    }

    void read_parameters(std::string_view line) {
        std::string given;
        const auto is_name = [&](auto& context) { given = x3::_attr(context); };
        const auto is_value = [&](auto& context) {
            names_.check_new(given);
            names_.parameters.emplace(given, value_of(x3::_attr(context), "a parameter"));
        };
        parse(line, (name[is_name] > equals > expression[is_value]) % ',');
    }

    void read_reaction(std::string_view line) {
        Reaction forward;
        bool reversible = false;
        std::vector<Expression> constants;
        std::vector<Term>* side = &forward.reactants;
        const auto is_label = [&](auto& context) { forward.name = x3::_attr(context); };
        const auto add = [&](const std::string& species, std::uint64_t times) {
            const std::size_t number = names_.species_named(species);
            const auto most = static_cast<std::uint64_t>(stoichiometry_max) + 1;
            const auto count = static_cast<std::int64_t>(std::min(times, most));
            if (count != 0) add_term(*side, number, count);
        };
        const auto is_one = [&](auto& context) { add(x3::_attr(context), 1); };
        const auto is_several = [&](auto& context) {
            add(boost::fusion::at_c<1>(x3::_attr(context)),
                boost::fusion::at_c<0>(x3::_attr(context)));
        };
        const auto is_arrow = [&](auto& /*context*/) { side = &forward.products; };
        const auto is_double_arrow = [&](auto& /*context*/) {
            side = &forward.products;
            reversible = true;
        };
        const auto is_constant = [&](auto& context) { constants.push_back(x3::_attr(context)); };
        const auto is_rate = [&](auto& context) { forward.rate = x3::_attr(context); };

        const auto term = (x3::ulong_long >> name)[is_several] | name[is_one];
        const auto terms = term % '+' | x3::lexeme[x3::lit('0') >> !x3::alnum] | x3::eps;
        parse(line, -(name >> ':')[is_label] >> terms >
                        (x3::lit("->")[is_arrow] | x3::lit("<->")[is_double_arrow]) > terms >
                        (('@' > expression[is_constant] % ',') | (keyword > expression[is_rate])));
        const std::string_view text = line.substr(0, line.find('@'));
        add_reaction(std::move(forward), reversible, constants, text);
    }

    void add_reaction(Reaction forward, bool reversible, const std::vector<Expression>& constants,
                      std::string_view text) {
        const std::size_t wanted = forward.rate ? 0 : reversible ? 2 : 1;
        if (forward.rate && reversible) {
            throw GraphError(
                "a reversible reaction takes two constants: give the rates of two "
                "reactions instead");
        }
        if (constants.size() != wanted) {
            throw GraphError(fmt::format("the reaction takes {} constant{}, not {}", wanted,
                                         wanted == 1 ? "" : "s", constants.size()));
        }
        if (forward.name.empty()) {
            forward.name = text.substr(0, std::min(text.find_last_not_of(" \t") + 1, text.size()));
        }
        std::vector<double> values;
        for (const Expression& one : constants) {
            values.push_back(value_of(one, "the constant of a reaction"));
            if (values.back() < 0) {
                throw GraphError(
                    fmt::format("the constant of a reaction is negative: {}", values.back()));
            }
        }
        if (!forward.rate) forward.constant = values[0];
        std::vector<Reaction>& reactions = names_.network.reactions;
        if (reversible) {
            reactions.push_back(forward);
            forward.name += " (reverse)";
            std::swap(forward.reactants, forward.products);
            forward.constant = values[1];
        }
        reactions.push_back(std::move(forward));
    }

    static inline const auto equals = x3::lit('=');
    Names names_;
};

}  // namespace

Network read_text_model(const std::string& path, std::string_view text) {
    TextModel model;
    std::size_t line_number = 0;
    while (!text.empty()) {
        ++line_number;
        const std::size_t end = std::min(text.find('\n'), text.size());
        try {
            model.read_line(text.substr(0, end));
        } catch (const GraphError& error) {
            throw InputOutputError(fmt::format("{}:{}: {}", path, line_number, error.what()));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return model.take();
}

}  // namespace strid::ssa
