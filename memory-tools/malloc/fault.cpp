// SPDX-License-Identifier: Apache-2.0
#include "fault.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace strid::slab_malloc {

void fault(const char* text, const void* address) noexcept {
    char line[160] = "strid: error: ";
    std::size_t length = std::strlen(line);
    for (; *text != '\0' && length < sizeof line - 24; ++text) line[length++] = *text;
    std::memcpy(line + length, " (0x", 4);
    length += 4;
    const auto value = reinterpret_cast<std::uintptr_t>(address);
    for (int shift = 60; shift >= 0; shift -= 4) {
        line[length++] = "0123456789abcdef"[value >> shift & 15];
    }
    line[length++] = ')';
    line[length++] = '\n';
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line, length);
    std::abort();
}

}  // namespace strid::slab_malloc
