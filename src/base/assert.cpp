// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>

#include <strid/engine/base/assert.hpp>

namespace strid::detail {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
    std::fprintf(stderr, "strid: assertion failed: %s (%s:%d)\n", condition, file, line);
    std::abort();
}

}  // namespace strid::detail
