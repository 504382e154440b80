// SPDX-License-Identifier: Apache-2.0
//
// The options of `strid window` for live streams and for windows that are written several times:
// --idle, --future, --every, --fill, --corrections. One thread.
#pragma once

#include <string>

#include "window_spec.hpp"

namespace CLI {
class App;
}

namespace strid::tool {

struct WindowCommand;
struct WindowJob;

void add_live_options(CLI::App& command, WindowCommand& options);

/// Throws GraphError where what is asked for makes no sense together, or with these windows.
void check_live_options(const WindowJob& job, const Windows& windows);

/// The remark on a run that is over; empty: none.
[[nodiscard]] std::string live_notes(const WindowJob& job);

}  // namespace strid::tool
