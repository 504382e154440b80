// SPDX-License-Identifier: Apache-2.0
//
// The command line of Strid: computes windows over tables, shows snapshots of runs, and finds the
// commands that are programs of their own, those that run and explain applications among them.
#include <algorithm>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <strid/base/version.hpp>

#include "commands.hpp"
#include "tools/common/programs.hpp"
#include "tools/common/transports.hpp"

namespace {

using namespace strid;

constexpr const char* footer =
    "Exit codes: 0 done, 1 failed, 2 the command line makes no sense,\n"
    "128 + signal when one ended the run (Ctrl-C drains; a second one cancels).\n"
    "`strid list` names the applications, `strid run APP --help` describes one.";

std::string footer_with_programs() {
    const std::vector<std::string> names = tool::program_names();
    if (names.empty()) return footer;
    return fmt::format("Programs of their own (strid NAME runs strid-NAME): {}\n\n{}",
                       fmt::join(names, ", "), footer);
}

/// A word that is no command here may be a program; otherwise it is a mistake.
void run_as_program(const CLI::App& app, char** arguments) {
    const std::string name = arguments[0];
    std::vector<std::string> commands;
    for (const CLI::App* command : app.get_subcommands({})) {
        commands.push_back(command->get_name());
    }
    if (name.starts_with('-') || std::ranges::find(commands, name) != commands.end()) return;
    if (const auto path = tool::find_program(name)) tool::become(*path, arguments + 1);
    const std::vector<std::string> programs = tool::program_names();
    commands.insert(commands.end(), programs.begin(), programs.end());
    throw GraphError(fmt::format("'{}' is neither a command of strid nor a program strid-{}{}",
                                 name, name, suggestion(name, commands)));
}

int strid_main(int argc, char** argv) {
    CLI::App app{"Strid: data-stream processing on one multicore machine", "strid"};
    app.require_subcommand(1);
    app.footer(footer_with_programs);
    app.set_version_flag("--version", fmt::format("strid {}", library_version()));
    tool::Action action;
    tool::add_transports();
    tool::add_window_command(app, action);
    tool::add_serve_command(app, action);
    tool::add_state_command(app, action);
    if (argc > 1) run_as_program(app, argv + 1);
    if (const auto code = parse_arguments(app, argc, argv)) return *code;
    return action();
}

}  // namespace

int main(int argc, char** argv) {
    return with_errors_reported([&] { return strid_main(argc, argv); });
}
