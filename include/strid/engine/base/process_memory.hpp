// SPDX-License-Identifier: Apache-2.0
//
// The memory of this process, as the system counts it. Any thread.
#pragma once

#include <cstdint>

namespace strid {

/// Memory of the process that is in use and not swapped out, in bytes; 0 where the system does not
/// report it. Reads a file of /proc.
[[nodiscard]] std::uint64_t resident_bytes() noexcept;

}  // namespace strid
