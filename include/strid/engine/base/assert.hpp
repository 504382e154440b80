// SPDX-License-Identifier: Apache-2.0
//
// Assertions at three levels, chosen when compiling with STRID_ASSERT_LEVEL:
//   0  off        release builds: nothing is evaluated
//   1  cheap      constant-time checks of a function's contract (the default)
//   2  paranoid   also the invariants of whole structures, `is_valid()`: most when they end
// A failed assertion is a bug of Strid, or a caller that broke a function's contract; input never
// causes one. It prints its place in the source and ends the process. Wrong input is an error
// (base/error.hpp).
#pragma once

#ifndef STRID_ASSERT_LEVEL
#define STRID_ASSERT_LEVEL 1
#endif

namespace strid::detail {

/// Prints the failed condition with its place on standard error and aborts. Any thread.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace strid::detail

#if STRID_ASSERT_LEVEL >= 1
#define STRID_ASSERT(condition) \
    ((condition) ? void() : ::strid::detail::assertion_failed(#condition, __FILE__, __LINE__))
#else
#define STRID_ASSERT(condition) void()
#endif

#if STRID_ASSERT_LEVEL >= 2
#define STRID_PARANOID(condition) STRID_ASSERT(condition)
#else
#define STRID_PARANOID(condition) void()
#endif
