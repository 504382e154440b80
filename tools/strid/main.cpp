// SPDX-License-Identifier: Apache-2.0
//
// The command line of Strid: runs, lists, explains and measures the applications.
#include <CLI/CLI.hpp>

#include "commands.hpp"

namespace {

using namespace strid;

constexpr const char* footer =
    "Exit codes: 0 done, 1 failed, 2 the command line makes no sense,\n"
    "128 + signal when one ended the run (Ctrl-C drains; a second one cancels).\n"
    "`strid run APP --help` tells about one application.";

int strid_main(int argc, char** argv) {
    CLI::App app{"Strid: data-stream processing on one multicore machine", "strid"};
    app.require_subcommand(1);
    app.footer(footer);
    tool::Action action;
#ifndef STRID_LEAN_TOOL
    const tool::Applications applications = apps::all_applications();
    tool::add_run_command(app, applications, action);
    tool::add_list_command(app, applications, action);
    tool::add_explain_command(app, applications, action);
    tool::add_bench_command(app, applications, action);
#endif
    tool::add_window_command(app, action);
    if (const auto code = parse_arguments(app, argc, argv)) return *code;
    return action();
}

}  // namespace

int main(int argc, char** argv) {
    return with_errors_told([&] { return strid_main(argc, argv); });
}
