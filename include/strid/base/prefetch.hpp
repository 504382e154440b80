// SPDX-License-Identifier: Apache-2.0
//
// A hint to the processor. Stateless.
#pragma once

namespace strid {

/// Asks for the line at `address` in order to write it. A line that another core has read must be
/// taken from it first, which costs some hundred cycles; asked for ahead, it is there in time. Any
/// address will do: the hint never faults.
inline void prefetch_for_write(const void* address) noexcept {
#if defined(__x86_64__)
    // __builtin_prefetch makes this instruction only where newer processors are compiled for.
    asm volatile("prefetchw (%0)" : : "r"(address));
#else
    __builtin_prefetch(address, 1);
#endif
}

}  // namespace strid
