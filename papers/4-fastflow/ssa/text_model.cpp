// SPDX-License-Identifier: Apache-2.0
//
// The text form of a model, line by line. Names are looked up while a line is parsed; a name that
// is not found is thrown, and gets its line here.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <boost/fusion/include/at_c.hpp>
#include <boost/spirit/home/x3.hpp>
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/excerpt.hpp>

#include "expression_grammar.hpp"
#include "model.hpp"

namespace strid::ssa {

namespace {

using namespace grammar;

// The depth that a recursive grammar can take.
constexpr std::size_t line_bytes_max = 20'000;
constexpr int nesting_max = 100;

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
            // A rule without a name is called by its type.
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
        return fmt::format("at '{}'", excerpt(rest, 30));
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
        parse(line, (-(name >> ':')[is_label] >> terms) >
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
