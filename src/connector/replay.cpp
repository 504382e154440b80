// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <fmt/format.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/connector/replay.hpp>

namespace strid {

std::size_t half_of_memory_bytes() noexcept {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long page_bytes = ::sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page_bytes <= 0) return SIZE_MAX;
    return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes) / 2;
}

void detail::refuse_recording(std::size_t bytes_max) {
    throw InputOutputError(
        fmt::format("the input to replay does not fit into {:.1f} MB of memory: replay less of it",
                    static_cast<double>(bytes_max) / 1e6));
}

void detail::refuse_other_recording(std::size_t before, std::size_t now) {
    throw InputOutputError(fmt::format(
        "{} records are replayed, and there were {} when the snapshot was taken", now, before));
}

}  // namespace strid
