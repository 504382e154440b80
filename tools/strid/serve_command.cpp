// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "commands.hpp"

namespace strid::tool {

namespace {

constexpr const char* description =
    "Run `strid window` as a service, with the options that a file has: one in each line, NAME = "
    "VALUE without the two dashes, or NAME alone. # begins a comment";

constexpr const char* footer =
    "It runs without a progress line, ends with 0 when SIGTERM stops it, and tells systemd when "
    "it\n"
    "is ready (Type=notify). Paths are from the folder that it is started in.\n"
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

constexpr std::size_t lines_max = 1'000;
constexpr std::size_t line_bytes_max = 64'000;

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// The words of the command line that the file stands for.
std::vector<std::string> words_of(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw InputOutputError(path + ": cannot be opened");
    std::vector<std::string> words;
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
        const auto refuse = [&](const char* reason) {
            throw GraphError(fmt::format("{}:{}: {}", path, number, reason));
        };
        if (number > lines_max || line.size() > line_bytes_max) refuse("the file is too long");
        const std::string_view text = trimmed(line);
        if (text.empty() || text.front() == '#') continue;
        const std::size_t equals = text.find('=');
        const std::string_view name = trimmed(text.substr(0, equals));
        if (name.empty() || name.starts_with('-')) refuse("an option is NAME = VALUE or NAME");
        if (name.find_first_of(" \t") != std::string_view::npos) {
            refuse("an option is NAME = VALUE: its name has no spaces");
        }
        if (equals == std::string_view::npos) {
            words.push_back(fmt::format("--{}", name));
        } else {
            words.push_back(fmt::format("--{}={}", name, trimmed(text.substr(equals + 1))));
        }
    }
    if (file.bad()) throw InputOutputError(path + ": cannot be read");
    return words;
}

int serve(const std::string& path) {
    std::vector<std::string> words{"strid", "window", "--quiet", "--zero-on-sigterm"};
    for (std::string& word : words_of(path)) words.push_back(std::move(word));
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    CLI::App app{"", "strid"};
    app.require_subcommand(1);
    Action action;
    add_window_command(app, action);
    const int count = static_cast<int>(arguments.size());
    if (const auto code = parse_arguments(app, count, arguments.data())) return *code;
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
