// SPDX-License-Identifier: Apache-2.0
//
// Models of `strid ssa`: SBML where the text begins with '<', else the text form. Invariant: a
// model is refused with a message, or names no species that it does not have, and can be prepared
// for simulation.
#include <string>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>

#include "model.hpp"
#include "sbml_model.hpp"
#include "tests/support/fuzzing.hpp"

namespace strid::ssa {
namespace {

void check(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos) return;
    if (text[begin] == '<' && !reads_sbml()) return;
    Network network =
        text[begin] == '<' ? read_sbml_model("model", text) : read_text_model("model", text);
    for (const Reaction& reaction : network.reactions) {
        for (const auto* const side : {&reaction.reactants, &reaction.products}) {
            for (const Term& term : *side) {
                fuzz::require(term.species < network.species.size() && term.count > 0);
            }
        }
    }
    const std::size_t time = network.species.size();  // its place: behind the species
    const std::size_t places = time + 1 + network.draws;
    const Kinetics kinetics(std::move(network));
    const std::vector<double> counts = kinetics.initial_counts();
    fuzz::require(counts.size() == places && counts[time] == 0);
}

}  // namespace
}  // namespace strid::ssa

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        strid::ssa::check(std::string(strid::fuzz::text_of(data, size)));
    } catch (const strid::InputOutputError& error) {
        strid::fuzz::require(error.what()[0] != '\0');
    } catch (const strid::GraphError& error) {
        strid::fuzz::require(error.what()[0] != '\0');
    }
    return 0;
}
