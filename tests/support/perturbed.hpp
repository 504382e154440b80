// SPDX-License-Identifier: Apache-2.0
//
// Whether the tests run perturbed (RunOptions::perturb, by the environment): a few records at a
// time, and blocks that run out on purpose. Tests take fewer records then, and do not count
// allocations.
#pragma once

#include <cstdlib>
#include <string_view>

namespace strid::test {

inline const bool perturbed = [] {
    const char* const wish = std::getenv("STRID_PERTURB");
    return wish != nullptr && std::string_view{wish} == "1";
}();

}  // namespace strid::test
