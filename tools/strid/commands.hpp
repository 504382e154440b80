// SPDX-License-Identifier: Apache-2.0
//
// The commands of `strid`. Each adds itself to the command line; what it has to do is left in the
// command that was chosen, and called once everything is parsed. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <strid/graph/arguments.hpp>

#include "application.hpp"

namespace strid::tool {

using Applications = std::vector<std::unique_ptr<apps::Application>>;

/// Runs the chosen command; returns the exit code.
using Action = std::function<int()>;

/// `run APP` and `explain APP`: a command per application below each.
void add_run_command(CLI::App& app, const Applications& applications, Action& action);
void add_explain_command(CLI::App& app, const Applications& applications, Action& action);
void add_list_command(CLI::App& app, const Applications& applications, Action& action);
void add_window_command(CLI::App& app, Action& action);
void add_bench_command(CLI::App& app, const Applications& applications, Action& action);

/// Cores that this process may use.
[[nodiscard]] std::size_t cores();

/// The options of a run, with the source of a replay as parallel as the rest: text in memory can
/// be read by any number of replicas.
[[nodiscard]] RunOptions replay_options(const RunOptions& options,
                                        const apps::Application& application);

}  // namespace strid::tool
