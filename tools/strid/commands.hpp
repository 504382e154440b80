// SPDX-License-Identifier: Apache-2.0
//
// The commands that are part of `strid` itself. Each adds itself to the command line; its work is
// left in `action` where it was chosen, and called once everything is parsed. One thread.
#pragma once

#include <functional>
#include <memory>

#include <strid/program/arguments.hpp>
#include <strid/program/companion.hpp>

namespace strid::tool {

/// Runs the chosen command; returns the exit code.
using Action = std::function<int()>;

/// `companion` goes along with the run; null: none.
void add_window_command(CLI::App& app, Action& action,
                        const std::shared_ptr<Companion>& companion = nullptr);
void add_serve_command(CLI::App& app, Action& action);
void add_state_command(CLI::App& app, Action& action);

}  // namespace strid::tool
