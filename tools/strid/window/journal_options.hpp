// SPDX-License-Identifier: Apache-2.0
//
// The options of `strid window` for the journal of a pipe or a socket: --journal and those beside
// it. One thread.
#pragma once

namespace CLI {
class App;
}

namespace strid::tool {

struct WindowCommand;

void add_journal_options(CLI::App& command, WindowCommand& options);

/// Throws GraphError where the other options leave no room for a journal, or there is none and it
/// is described.
void check_journal_options(const WindowCommand& command);

}  // namespace strid::tool
