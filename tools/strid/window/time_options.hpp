// SPDX-License-Identifier: Apache-2.0
//
// The options of `strid window` about time: where it stands, in which unit, how far rows may be
// behind. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "time_text.hpp"

namespace CLI {
class App;
}

namespace strid::tool {

struct WindowCommand;

/// The units that integers may count, with their nanoseconds.
inline constexpr std::array<std::pair<const char*, std::int64_t>, 7> units = {
    {{"s", 1'000'000'000},
     {"ms", 1'000'000},
     {"us", 1'000},
     {"ns", 1},
     {"m", 60'000'000'000},
     {"h", 3'600'000'000'000},
     {"d", 86'400'000'000'000}}};

void add_time_options(CLI::App& command, WindowCommand& options);

/// A possible fault although the run went well: seconds that were read as milliseconds, local times
/// that clocks show twice. Empty: nothing.
[[nodiscard]] std::string hint_about_times(const TimeFormat& format);

}  // namespace strid::tool
