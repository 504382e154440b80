// SPDX-License-Identifier: Apache-2.0
//
// How much memory this process has, as Linux counts it, and where its malloc comes from. Any
// thread.
#pragma once

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>

#include <dlfcn.h>

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

/// The file of the library whose malloc this process uses: that of the C library, or one that was
/// preloaded.
[[nodiscard]] inline std::string malloc_library() {
    Dl_info info{};
    const void* const found = ::dlsym(RTLD_DEFAULT, "malloc");
    if (found == nullptr || ::dladdr(found, &info) == 0 || info.dli_fname == nullptr) {
        throw std::runtime_error("the loader does not say where malloc comes from");
    }
    return info.dli_fname;
}

}  // namespace strid::bench
