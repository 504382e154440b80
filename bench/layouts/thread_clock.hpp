// SPDX-License-Identifier: Apache-2.0
//
// The processor time of the calling thread, in seconds: on a quiet machine what the clock says,
// and on a busy one not the time that other programs had the core.
#pragma once

#include <ctime>

namespace strid::bench {

[[nodiscard]] inline double thread_seconds() noexcept {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace strid::bench
