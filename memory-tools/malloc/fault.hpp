// SPDX-License-Identifier: Apache-2.0
//
// The end of a program that misuses malloc: a line with the fault is printed and the process is
// aborted, as under the C library.
#pragma once

namespace strid::slab_malloc {

/// Writes "strid: error: `text` (`address`)" to standard error and aborts. Allocates nothing.
[[noreturn, gnu::cold]] void fault(const char* text, const void* address) noexcept;

}  // namespace strid::slab_malloc
