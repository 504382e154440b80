// SPDX-License-Identifier: Apache-2.0
//
// Times at which a task is to be stepped again.
#pragma once

#include <cstdint>

namespace strid::runtime {

/// The earlier of two times to wake at; 0 means never.
[[nodiscard]] inline std::int64_t earlier_wake(std::int64_t a, std::int64_t b) noexcept {
    if (a == 0 || b == 0) return a + b;
    return a < b ? a : b;
}

}  // namespace strid::runtime
