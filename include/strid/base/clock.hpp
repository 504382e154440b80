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

namespace detail {
/// The clock of operators where a test has set it (test/harness.hpp).
inline constinit thread_local const std::int64_t* set_clock_ns = nullptr;
}  // namespace detail

/// The clock of operators: now_ns(), except in a test that drives an operator by a clock of its
/// own.
[[nodiscard]] inline std::int64_t operator_clock_ns() noexcept {
    const std::int64_t* const set = detail::set_clock_ns;
    return set == nullptr ? now_ns() : *set;
}

}  // namespace strid
