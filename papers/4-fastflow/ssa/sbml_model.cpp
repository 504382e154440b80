// SPDX-License-Identifier: Apache-2.0
#include "sbml_model.hpp"

#include <memory>

#include <fmt/format.h>
#include <sbml/SBMLTypes.h>
#include <sbml/extension/SBasePlugin.h>

#include <strid/base/error.hpp>

#include "sbml_distributions.hpp"
#include "sbml_limits.hpp"
#include "sbml_network.hpp"

namespace strid::ssa {

namespace {

/// The first error of the library, in one line.
void check_document(const std::string& path, const SBMLDocument& document) {
    for (unsigned i = 0; i < document.getNumErrors(); ++i) {
        const SBMLError& error = *document.getError(i);
        if (error.getSeverity() < LIBSBML_SEV_ERROR) continue;
        std::string what = error.getMessage();
        for (char& mark : what) {
            if (mark == '\n' || mark == '\r') mark = ' ';
        }
        while (what.ends_with(' ')) what.pop_back();
        throw InputOutputError(fmt::format("{}:{}: {}", path, error.getLine(), what));
    }
}

void check_packages(const std::string& path, SBMLDocument& document) {
    for (unsigned i = 0; i < document.getNumPlugins(); ++i) {
        const std::string& package = document.getPlugin(i)->getPackageName();
        if (package == "l3v2extendedmath" || !document.getPackageRequired(package)) continue;
        throw InputOutputError(fmt::format(
            "{}: the model needs the package '{}', which is not supported", path, package));
    }
}

}  // namespace

bool reads_sbml() noexcept {
    return true;
}

Network read_sbml_model(const std::string& path, const std::string& text) {
    check_nesting(path, text);
    const std::unique_ptr<SBMLDocument> document(
        readSBMLFromString(with_distributions_named(text).c_str()));
    check_document(path, *document);
    if (document->getLevel() != 2 && document->getLevel() != 3) {
        throw InputOutputError(fmt::format("{}: SBML of level {}; levels 2 and 3 are supported",
                                           path, document->getLevel()));
    }
    if (document->getLevel() == 3) check_packages(path, *document);
    if (document->getModel() == nullptr) {
        throw InputOutputError(fmt::format("{}: there is no model in it", path));
    }
    check_expansion(path, *document->getModel());
    if (document->getModel()->getNumFunctionDefinitions() != 0 &&
        !document->expandFunctionDefinitions()) {
        check_document(path, *document);
        throw InputOutputError(
            fmt::format("{}: the function definitions of the model cannot be expanded", path));
    }
    return sbml_network(path, *document->getModel());
}

}  // namespace strid::ssa
