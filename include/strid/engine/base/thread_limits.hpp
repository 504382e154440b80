// SPDX-License-Identifier: Apache-2.0
//
// The reason why the system gave no thread: std::thread has the words "Resource temporarily
// unavailable" for each. A function without state; any thread.
#pragma once

#include <string>

namespace strid {

/// The limit that was reached, as a clause for a message: "there is no memory for a stack of 8192
/// KiB (ulimit -v is 20000)". Reads the limits of the process, and tries to map a stack.
[[nodiscard]] std::string reached_thread_limit();

}  // namespace strid
