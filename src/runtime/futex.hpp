// SPDX-License-Identifier: Apache-2.0
//
// The kernel's wait and wake on a word of memory, with a deadline (which std::atomic::wait lacks).
// Any thread. Waiting and waking order nothing by themselves: the word's atomic operations do.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace strid::runtime {

/// No deadline: the end of time.
inline constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

/// Sleeps while `word` holds `expected`, at most until `until_ns` on the clock of now_ns(). May
/// return early for no reason.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::int64_t until_ns) noexcept;

/// Wakes one thread that sleeps on `word`.
void futex_wake(std::atomic<std::uint32_t>& word) noexcept;

}  // namespace strid::runtime
