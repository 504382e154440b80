// SPDX-License-Identifier: Apache-2.0
//
// The commands that are part of `strid` itself. Each adds itself to the command line; its work is
// left in `action` where it was chosen, and called once everything is parsed. One thread.
#pragma once

#include <functional>

#include <strid/program/arguments.hpp>

namespace strid::tool {

/// Runs the chosen command; returns the exit code.
using Action = std::function<int()>;

void add_window_command(CLI::App& app, Action& action);
void add_serve_command(CLI::App& app, Action& action);
void add_state_command(CLI::App& app, Action& action);

}  // namespace strid::tool
