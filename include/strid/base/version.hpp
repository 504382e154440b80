// SPDX-License-Identifier: Apache-2.0
//
// The version of Strid, by semantic versioning. It is that of project() in CMakeLists.txt:
// scripts/check_version.py, a test, fails if they differ. Before 1.0.0 a new minor version may
// change the interface, a new patch may not.
//
// The macros are for `#if`; everything else reads the constants. Any thread.
#pragma once

#include <string_view>

/// The first part of the version of these headers.
#define STRID_VERSION_MAJOR 0
/// The second part of the version of these headers.
#define STRID_VERSION_MINOR 1
/// The third part of the version of these headers.
#define STRID_VERSION_PATCH 0

/// A version as one number that grows with it; each part is below 1000.
///
/// `#if STRID_VERSION >= STRID_VERSION_NUMBER(0, 2, 0)`
#define STRID_VERSION_NUMBER(first, second, third) ((first)*1000000 + (second)*1000 + (third))
/// The version of these headers as such a number.
#define STRID_VERSION \
    STRID_VERSION_NUMBER(STRID_VERSION_MAJOR, STRID_VERSION_MINOR, STRID_VERSION_PATCH)

namespace strid {

/// The version of these headers, "MAJOR.MINOR.PATCH".
inline constexpr std::string_view version = "0.1.0";

/// The version of the library that the program is linked with. It differs from `version` only if
/// the program was compiled with the headers of another installation than the library's. The
/// headers and the library must have the same major and minor version.
[[nodiscard]] std::string_view library_version() noexcept;

}  // namespace strid
