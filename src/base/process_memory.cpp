// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include <strid/engine/base/process_memory.hpp>

namespace strid {

// /proc/self/statm: pages of the whole address space, then those that are resident.
std::uint64_t resident_bytes() noexcept {
    const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    std::array<char, 128> text{};
    const ssize_t size = ::read(file, text.data(), text.size());
    ::close(file);
    if (size <= 0) return 0;
    const std::string_view line(text.data(), static_cast<std::size_t>(size));
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return 0;
    std::uint64_t pages = 0;
    std::from_chars(line.data() + space + 1, line.data() + line.size(), pages);
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace strid
