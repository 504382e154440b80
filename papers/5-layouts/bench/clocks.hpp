// SPDX-License-Identifier: Apache-2.0
//
// Two clocks, in seconds: the processor time of the calling thread, which on a quiet machine is
// what the clock says, and on a busy one not the time that other programs had the core; and the
// clock.
#pragma once

#include <ctime>

namespace strid::bench {

[[nodiscard]] inline double seconds_of(clockid_t clock) noexcept {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
[[nodiscard]] inline double thread_seconds() noexcept {
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}
[[nodiscard]] inline double clock_seconds() noexcept {
    return seconds_of(CLOCK_MONOTONIC);
}

}  // namespace strid::bench
