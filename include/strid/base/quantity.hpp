// SPDX-License-Identifier: Apache-2.0
//
// Decimal numbers with units, as users write them: times, rates, counts, bytes. Pure functions, any
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace strid {

/// Reads `5s`, `250ms`, `2m`, `1.5h`, exactly; units are ns us ms s m (min) h d (24 hours) and w (7
/// days). Throws GraphError, also for a number without a unit, for 0 and for times finer than a
/// nanosecond.
[[nodiscard]] std::chrono::nanoseconds read_duration(std::string_view text);
/// The same, but 0 is allowed, with or without a unit.
[[nodiscard]] std::chrono::nanoseconds read_duration_or_zero(std::string_view text);

/// Reads a number per second, above 0, with an optional k, M or G: the double nearest to it. Throws
/// GraphError.
[[nodiscard]] double read_rate(std::string_view text);

/// Reads a whole number above 0 with an optional k, M or G, exactly. Throws GraphError.
[[nodiscard]] std::uint64_t read_whole_number(std::string_view text);

/// Reads a whole number of bytes above 0, exactly: 4096, or 64K, 16M, 1.5G by powers of 1024.
/// Throws GraphError.
[[nodiscard]] std::uint64_t read_byte_count(std::string_view text);

}  // namespace strid
