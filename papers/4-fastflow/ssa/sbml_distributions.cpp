// SPDX-License-Identifier: Apache-2.0
#include "sbml_distributions.hpp"

#include <algorithm>
#include <string_view>

namespace strid::ssa {

namespace {

constexpr std::string_view symbols = "http://www.sbml.org/sbml/symbols/distrib/";
constexpr std::string_view package = "http://www.sbml.org/sbml/level3/version1/distrib/version1";
constexpr std::string_view element = "csymbol";

/// An element of a symbol: from `begin` to `end`, of the namespace prefix and the distribution.
struct Symbol {
    std::size_t begin;
    std::size_t end;
    std::string prefix;
    std::string name;
};

/// The element whose attribute has the address at `address`; npos as its end: it is none.
Symbol symbol_at(std::string_view text, std::size_t address) {
    Symbol none{0, std::string_view::npos, {}, {}};
    const std::size_t begin = text.rfind('<', address);
    const std::size_t tag_end = text.find('>', address);
    if (begin == std::string_view::npos || tag_end == std::string_view::npos) return none;
    const std::string_view tag = text.substr(begin + 1, tag_end - begin - 1);
    const std::string_view word = tag.substr(0, tag.find_first_of(" \t\r\n/"));
    if (!word.ends_with(element)) return none;
    const std::size_t name_begin = address + symbols.size();
    const std::size_t name_end = text.find_first_of("\"'", name_begin);
    if (name_end > tag_end) return none;
    Symbol found{begin, tag_end + 1, std::string(word.substr(0, word.size() - element.size())),
                 std::string(text.substr(name_begin, name_end - name_begin))};
    if (tag.ends_with('/')) return found;
    const std::size_t close = text.find("</", tag_end);
    const std::size_t close_end = text.find('>', std::min(close, text.size()));
    if (close_end == std::string_view::npos) return none;
    found.end = close_end + 1;
    return found;
}

/// `PREFIX:required="true"` of the package is "false" then.
void make_optional(std::string& text) {
    const std::size_t address = text.find(package);
    const std::size_t colon =
        address != std::string::npos ? text.rfind("xmlns:", address) : std::string::npos;
    if (colon == std::string::npos) return;
    const std::size_t begin = colon + 6;
    const std::string prefix = text.substr(begin, text.find_first_of("= \t\r\n", begin) - begin);
    for (const char quote : {'"', '\''}) {
        const std::string wanted = prefix + ":required=" + quote + "true" + quote;
        const std::size_t found = text.find(wanted);
        if (found == std::string::npos) continue;
        text.replace(found, wanted.size(), prefix + ":required=" + quote + "false" + quote);
        return;
    }
}

}  // namespace

std::string with_distributions_named(const std::string& text) {
    if (text.find(package) == std::string::npos) return text;
    const std::string_view all = text;
    std::string made;
    std::size_t done = 0;
    for (std::size_t at = all.find(symbols); at != std::string_view::npos;
         at = all.find(symbols, at + 1)) {
        const Symbol symbol = symbol_at(all, at);
        if (symbol.end == std::string_view::npos || symbol.begin < done) continue;
        const std::string_view replaced = all.substr(symbol.begin, symbol.end - symbol.begin);
        const auto lines = static_cast<std::size_t>(std::ranges::count(replaced, '\n'));
        made += all.substr(done, symbol.begin - done);
        made += "<" + symbol.prefix + "ci>" + distribution_prefix + symbol.name +
                std::string(lines, '\n') + "</" + symbol.prefix + "ci>";
        done = symbol.end;
    }
    made += all.substr(done);
    make_optional(made);
    return made;
}

}  // namespace strid::ssa
