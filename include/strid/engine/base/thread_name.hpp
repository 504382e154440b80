// SPDX-License-Identifier: Apache-2.0
//
// The name of a thread, as ps -L, top -H, perf and debuggers show it: "strid-w0" is the first
// worker of a run.
//
// Threads: each names itself.
#pragma once

#include <pthread.h>

namespace strid::detail {

/// The kernel keeps 15 characters; a longer name changes nothing.
inline void name_this_thread(const char* name) noexcept {
    (void)::pthread_setname_np(::pthread_self(), name);
}

}  // namespace strid::detail
