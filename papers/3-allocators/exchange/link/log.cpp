// SPDX-License-Identifier: Apache-2.0
#include "link/log.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "fix/time_text.hpp"

namespace strid::exchange {

void Log::say(std::string_view text) const {
    if (quiet_) return;
    std::string line = fmt::format("{} {}: {}", fix::utc_timestamp(), name_, text);
    // Names and texts of clients stand in it: they make no lines and no escapes of their own.
    for (char& c : line) {
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
    }
    line += '\n';
    // One call for a line: lines of several threads and programs do not mix. A log that cannot be
    // written is no reason to end.
    (void)!::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace strid::exchange
