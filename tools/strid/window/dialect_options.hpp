// SPDX-License-Identifier: Apache-2.0
//
// The options of `strid window` about its inputs and how CSV is written in them. One thread.
#pragma once

namespace CLI {
class App;
}

namespace strid::tool {

struct WindowCommand;

void add_input_options(CLI::App& command, WindowCommand& options);
void add_dialect_options(CLI::App& command, WindowCommand& options);
/// Once everything is parsed: what follows from what was given, the inputs first. Throws
/// GraphError.
void settle_inputs(WindowCommand& options);
void settle_dialect(WindowCommand& options);

}  // namespace strid::tool
