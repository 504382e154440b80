// SPDX-License-Identifier: Apache-2.0
//
// The options of `strid window` about time: where it stands, in which unit, how far rows may be
// behind. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace CLI {
class App;
}

namespace strid::tool {

struct WindowCommand;

/// The units that integers may count, with their nanoseconds.
inline constexpr std::array<std::pair<const char*, std::int64_t>, 4> units = {
    {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}}};

void add_time_options(CLI::App& command, WindowCommand& options);

}  // namespace strid::tool
