// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "sbml_model.hpp"

namespace strid::ssa {

bool reads_sbml() noexcept {
    return false;
}

Network read_sbml_model(const std::string& path, const std::string& /*text*/) {
    throw InputOutputError(fmt::format(
        "{}: this strid-ssa was built without libSBML and reads the text form only", path));
}

}  // namespace strid::ssa
