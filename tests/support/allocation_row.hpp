// SPDX-License-Identifier: Apache-2.0
//
// The result of a test of allocations, as a line that scripts/bench makes a row of.
#pragma once

#include <cstdio>
#include <string>

namespace strid::test {

inline void print_allocations(const std::string& what, const std::string& how, double per_record) {
    std::printf("allocations per record | %s | %s | %.6f |\n", what.c_str(), how.c_str(),
                per_record);
}

}  // namespace strid::test
