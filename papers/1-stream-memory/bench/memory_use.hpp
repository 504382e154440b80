// SPDX-License-Identifier: Apache-2.0
//
// How much memory this process has, as Linux counts it. Any thread.
#pragma once

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>

namespace strid::bench {

/// Bytes of the resident set. Walks the page tables: milliseconds for gigabytes.
[[nodiscard]] inline std::uint64_t resident_bytes() {
    std::ifstream rollup("/proc/self/smaps_rollup");
    for (std::string name; rollup >> name;) {
        std::uint64_t kib = 0;
        if (name == "Rss:" && rollup >> kib) return kib << 10;
    }
    throw std::runtime_error("/proc/self/smaps_rollup does not say the resident set");
}

}  // namespace strid::bench
