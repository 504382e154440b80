// SPDX-License-Identifier: Apache-2.0
//
// Aggregates as text.
#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <strid/table/window.hpp>

#include "expression_tokens.hpp"

namespace strid::table {

namespace {

using detail::Token;
using detail::Tokens;

struct NamedFunction {
    std::string_view name;
    AggregateFunction function;
};
constexpr std::array named_functions{
    NamedFunction{"count", AggregateFunction::count},
    NamedFunction{"sum", AggregateFunction::sum},
    NamedFunction{"min", AggregateFunction::min},
    NamedFunction{"max", AggregateFunction::max},
    NamedFunction{"avg", AggregateFunction::avg},
    NamedFunction{"mean", AggregateFunction::avg},
    NamedFunction{"first", AggregateFunction::first},
    NamedFunction{"last", AggregateFunction::last},
    NamedFunction{"median", AggregateFunction::quantile},
    NamedFunction{"quantile", AggregateFunction::quantile},
};

std::string taken_name(Tokens& tokens, std::string_view expected) {
    if (tokens.now().kind == Token::Kind::word) return tokens.take().written;
    if (tokens.now().kind == Token::Kind::name) return tokens.take().text;
    tokens.refuse_now(expected);
}

AggregateFunction taken_function(Tokens& tokens) {
    if (tokens.now().kind != Token::Kind::word) tokens.refuse_now("a function");
    for (const auto& [name, function] : named_functions) {
        if (tokens.now().text == name) {
            (void)tokens.take();
            return function;
        }
    }
    std::string names;
    for (const NamedFunction& one : named_functions) {
        names += names.empty() ? "" : ", ";
        names += one.name;
    }
    tokens.refuse(tokens.now().place, fmt::format("there is no function '{}'; there are: {}",
                                                  tokens.now().written, names));
}

double taken_fraction(Tokens& tokens) {
    const Token number = tokens.take();
    double fraction = -1;
    const char* const end = number.text.data() + number.text.size();
    const auto read = std::from_chars(number.text.data(), end, fraction);
    if (number.kind != Token::Kind::number || read.ptr != end ||
        !(fraction >= 0 && fraction <= 1)) {
        tokens.refuse(number.place, "a fraction from 0 to 1 was expected");
    }
    return fraction;
}

void take_arguments(Tokens& tokens, bool has_fraction, Aggregate& aggregate) {
    const bool counts = aggregate.function == AggregateFunction::count;
    if (counts && !tokens.is("(")) return;
    tokens.expect("(");
    if (counts && tokens.take_if("*")) return tokens.expect(")");
    // A column may have the name of the word.
    const bool has_column_behind =
        tokens.next().kind == Token::Kind::word || tokens.next().kind == Token::Kind::name;
    if (counts && tokens.is("distinct") && has_column_behind) {
        (void)tokens.take();
        aggregate.function = AggregateFunction::count_distinct;
    }
    aggregate.column = taken_name(tokens, "a column");
    if (has_fraction) {
        tokens.expect(",");
        aggregate.fraction = taken_fraction(tokens);
    }
    tokens.expect(")");
}

}  // namespace

std::vector<Aggregate> parse_aggregates(std::string_view text) {
    Tokens tokens(text);
    std::vector<Aggregate> aggregates;
    do {
        const std::size_t begin = tokens.now().place - 1;
        const bool has_fraction = tokens.is("quantile");
        Aggregate aggregate{{}, taken_function(tokens)};
        take_arguments(tokens, has_fraction, aggregate);
        std::string_view written = text.substr(begin, tokens.now().place - 1 - begin);
        while (!written.empty() && (written.back() == ' ' || written.back() == '\t' ||
                                    written.back() == '\n' || written.back() == '\r')) {
            written.remove_suffix(1);
        }
        aggregate.name = written;
        if (tokens.take_if("as")) aggregate.name = taken_name(tokens, "a name");
        aggregates.push_back(std::move(aggregate));
    } while (tokens.take_if(","));
    if (tokens.now().kind != Token::Kind::end) tokens.refuse_now("a comma or the end");
    return aggregates;
}

}  // namespace strid::table
