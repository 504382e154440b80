// SPDX-License-Identifier: Apache-2.0
#include "sbml_limits.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <sbml/xml/XMLInputStream.h>
#include <sbml/xml/XMLToken.h>

#include <strid/base/error.hpp>

namespace strid::ssa {

namespace {

constexpr std::size_t depth_max = 1'000;
constexpr double terms_max = 1'000'000;

/// How many terms math has: a number, and so many more for each term that an argument has.
struct Length {
    double own = 0;
    std::vector<double> arguments = {};  // by argument of the function that the math is the body of
};

class Expansion {
  public:
    Expansion(const std::string& path, const Model& model) : path_(path), model_(model) {}

    /// All functions, and the math of everything else.
    void check() {
        double terms = 0;
        for (unsigned i = 0; i < model_.getNumFunctionDefinitions(); ++i) {
            terms += length_of(*model_.getFunctionDefinition(i)).own;
        }
        for (unsigned i = 0; i < model_.getNumReactions(); ++i) {
            const KineticLaw* const law = model_.getReaction(i)->getKineticLaw();
            if (law != nullptr && law->isSetMath()) terms += length_of(*law->getMath(), {}).own;
        }
        for (unsigned i = 0; i < model_.getNumInitialAssignments(); ++i) {
            const InitialAssignment& one = *model_.getInitialAssignment(i);
            if (one.isSetMath()) terms += length_of(*one.getMath(), {}).own;
        }
        for (unsigned i = 0; i < model_.getNumRules(); ++i) {
            const Rule& one = *model_.getRule(i);
            if (one.isSetMath()) terms += length_of(*one.getMath(), {}).own;
        }
        for (unsigned i = 0; i < model_.getNumEvents(); ++i) {
            terms += length_of_event(*model_.getEvent(i));
        }
        if (terms <= terms_max) return;
        throw InputOutputError(
            fmt::format("{}: the math of the model has more than {:.0f} terms when its function "
                        "definitions are "
                        "expanded",
                        path_, terms_max));
    }

  private:
    using Arguments = std::vector<std::string>;

    double length_of_event(const ::Event& event) {
        const auto length = [this](const auto* part) {
            return part != nullptr && part->isSetMath() ? length_of(*part->getMath(), {}).own : 0;
        };
        double terms =
            length(event.getTrigger()) + length(event.getDelay()) + length(event.getPriority());
        for (unsigned i = 0; i < event.getNumEventAssignments(); ++i) {
            terms += length(event.getEventAssignment(i));
        }
        return terms;
    }
    const Length& length_of(const FunctionDefinition& function) {
        const auto [at, is_new] = functions_.try_emplace(function.getId());
        if (!is_new) {
            if (open_.contains(function.getId())) {
                throw InputOutputError(fmt::format("{}:{}: function '{}' calls itself", path_,
                                                   function.getLine(), function.getId()));
            }
            return at->second;
        }
        if (open_.size() == depth_max) {
            throw InputOutputError(fmt::format("{}:{}: functions call each other more than {} deep",
                                               path_, function.getLine(), depth_max));
        }
        open_.insert(function.getId());
        Arguments arguments;
        for (unsigned i = 0; i < function.getNumArguments(); ++i) {
            arguments.emplace_back(function.getArgument(i)->getName());
        }
        if (function.getBody() != nullptr) {
            at->second = length_of(*function.getBody(), arguments);
        }
        at->second.arguments.resize(arguments.size());
        open_.erase(function.getId());
        return at->second;
    }

    Length length_of(const ASTNode& node, const Arguments& arguments) {
        Length length{1, std::vector<double>(arguments.size())};
        if (node.isName() && node.getName() != nullptr) {
            const auto argument = std::ranges::find(arguments, node.getName());
            if (argument != arguments.end()) {
                length.own = 0;
                length.arguments[static_cast<std::size_t>(argument - arguments.begin())] = 1;
                return length;
            }
        }
        const FunctionDefinition* const called =
            node.getType() == AST_FUNCTION && node.getName() != nullptr
                ? model_.getFunctionDefinition(node.getName())
                : nullptr;
        const Length* const body = called != nullptr ? &length_of(*called) : nullptr;
        if (body != nullptr) length.own += body->own;
        for (unsigned i = 0; i < node.getNumChildren(); ++i) {
            // An argument that the body does not read is still there once.
            const double times = body != nullptr && i < body->arguments.size()
                                     ? std::max(body->arguments[i], 1.0)
                                     : 1;
            const Length child = length_of(*node.getChild(i), arguments);
            length.own += times * child.own;
            for (std::size_t k = 0; k < arguments.size(); ++k) {
                length.arguments[k] += times * child.arguments[k];
            }
        }
        return length;
    }

    const std::string& path_;
    const Model& model_;
    std::map<std::string, Length> functions_;
    std::set<std::string> open_;  // functions whose bodies are being read
};

}  // namespace

void check_nesting(const std::string& path, const std::string& text) {
    XMLInputStream stream(text.c_str(), false);
    std::size_t depth = 0;
    while (stream.isGood()) {
        const XMLToken token = stream.next();
        if (token.isStart() && !token.isEnd() && ++depth > depth_max) {
            throw InputOutputError(fmt::format("{}:{}: elements are nested deeper than {}", path,
                                               token.getLine(), depth_max));
        }
        if (token.isEnd() && !token.isStart() && depth != 0) --depth;
    }
}

void check_expansion(const std::string& path, const Model& model) {
    Expansion(path, model).check();
}

}  // namespace strid::ssa
