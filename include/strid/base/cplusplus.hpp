// SPDX-License-Identifier: Apache-2.0
//
// Ends the compilation where the standard is older than the library's: the first of all headers.
#pragma once

#if __cplusplus < 202002L
#error "Strid is a library for C++20: compile with -std=c++20 or a later standard"
// A missing header ends the compilation, which #error does not: no second message follows.
#include <c++20>
#endif
