// SPDX-License-Identifier: Apache-2.0
//
// A program that misuses malloc: the process ends with a line that says how, as it does under the C
// library.
#pragma once

namespace strid::slab_malloc {

/// Writes "strid: error: `text` (`address`)" to standard error and aborts. Allocates nothing.
[[noreturn, gnu::cold]] void fault(const char* text, const void* address) noexcept;

}  // namespace strid::slab_malloc
