// SPDX-License-Identifier: Apache-2.0
//
// The machine's sizes that the tables follow: the caches of this machine and the memory that is
// free.
#pragma once

#include <cstddef>

namespace strid::bench {

struct Machine {
    std::size_t first_cache_bytes = 0;  ///< Data, of one core.
    std::size_t last_cache_bytes = 0;   ///< As the hardware says; others may use it as well.
    std::size_t line_bytes = 0;
    std::size_t memory_bytes = 0;  ///< Free, and within the limit of the control group.
};

/// Caches from hwloc; where it finds none, 32 KiB, 8 MiB and lines of 64 bytes. Milliseconds.
[[nodiscard]] Machine read_machine();

}  // namespace strid::bench
