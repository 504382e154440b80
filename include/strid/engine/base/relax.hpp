// SPDX-License-Identifier: Apache-2.0
//
// A pause in a loop that waits for another thread. Stateless; any thread.
#pragma once

namespace strid {

/// Tells the processor that the thread waits for another thread's write: the thread pauses for 10
/// to 60 ns and saves power.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace strid
