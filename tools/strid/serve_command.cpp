// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <strid/engine/base/terminal.hpp>

#include "commands.hpp"
#include "serve_options.hpp"
#include "serve_reload.hpp"

namespace strid::tool {

namespace {

constexpr const char* description =
    "Run `strid window` as a service, with the options that a file has: one in each line, NAME = "
    "VALUE without the two dashes, or NAME alone. # begins a comment";

constexpr const char* footer =
    "It runs without a progress line, ends with 0 when SIGTERM stops it, and tells systemd when "
    "it\n"
    "is ready (Type=notify). Paths are from the folder that it is started in. At SIGHUP it reads\n"
    "the file again, and takes what may change while it runs: docs/operating.md.\n"
    "\n"
    "Example, bars.conf:\n"
    "  input     = kafka://127.0.0.1:9092/trades\n"
    "  format    = json\n"
    "  key       = symbol\n"
    "  time      = at\n"
    "  window    = tumbling:1s\n"
    "  aggregate = count as n, max(price) as high\n"
    "  output    = postgres://bars@/market?table=bars\n"
    "  snapshots = /var/lib/strid/bars\n"
    "  http      = 127.0.0.1:8080\n";

/// Reads the options as a command line; what makes no sense is said on standard error.
std::optional<int> parse(CLI::App& app, const std::vector<ServeOption>& options) {
    const std::vector<std::string> words = words_of(options);
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    return parse_arguments(app, static_cast<int>(arguments.size()), arguments.data());
}

/// Whether a run could begin with them, as far as the options alone can tell.
bool is_command_line(std::vector<ServeOption> options) {
    for (const ServeOption& option : options) {
        if (option.name != "log") continue;
        if (option.value == "text" || option.value == "json") continue;
        write_to_stderr("strid: error: log is text or json\n");
        return false;
    }
    // Parsing it would set the log.
    std::erase_if(options, [](const ServeOption& option) { return option.name == "log"; });
    CLI::App app{"", "strid"};
    app.require_subcommand(1);
    Action action;
    add_window_command(app, action);
    return !parse(app, options);
}

int serve(const std::string& path) {
    const std::vector<ServeOption> options = read_serve_options(path);
    CLI::App app{"", "strid"};
    app.require_subcommand(1);
    Action action;
    add_window_command(app, action, std::make_shared<ServeReload>(path, options, &is_command_line));
    if (const auto code = parse(app, options)) return *code;
    return action();
}

}  // namespace

void add_serve_command(CLI::App& app, Action& action) {
    auto path = std::make_shared<std::string>();
    CLI::App* const command = app.add_subcommand("serve", description);
    command->footer(footer);
    command->add_option("FILE", *path, "The file of options")->required();
    command->callback([&action, path] { action = [path] { return serve(*path); }; });
}

}  // namespace strid::tool
