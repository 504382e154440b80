// SPDX-License-Identifier: Apache-2.0
//
// The time of the engine: nanoseconds of a clock that never goes backwards.
#pragma once

#include <chrono>
#include <cstdint>

namespace strid {

/// Nanoseconds since an arbitrary fixed point; monotonic over all threads. About 20 ns a call
/// (vDSO), which is why the engine reads it per batch and never per record.
[[nodiscard]] inline std::int64_t now_ns() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace strid
