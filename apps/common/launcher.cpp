// SPDX-License-Identifier: Apache-2.0
//
// `strid run`, `strid explain` and `strid list`: one program, which looks at the name it is called
// by. An application is a program of its own in the folder `applications` beside this one or, once
// installed, below the folder of the libraries; run and explain become that program.
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "applications.hpp"
#include "tools/common/programs.hpp"

namespace {

using namespace strid;
namespace fs = std::filesystem;

/// The program of that name; empty where it was not built.
std::string program_of(std::string_view name) {
    std::error_code error;
    const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const fs::path& place : {folder / "applications", folder / STRID_APPLICATIONS_INSTALLED}) {
        fs::path program = place / name;
        if (::access(program.c_str(), X_OK) == 0) return program.string();
    }
    return {};
}

std::vector<apps::ApplicationFacts> applications_here() {
    std::vector<apps::ApplicationFacts> here;
    std::ranges::copy_if(apps::application_table(), std::back_inserter(here),
                         [](const auto& row) { return !program_of(row.name).empty(); });
    return here;
}

int list(int argc, char** argv) {
    CLI::App app{"List the applications", "strid list"};
    if (const auto code = parse_arguments(app, argc, argv)) return *code;
    const std::vector<apps::ApplicationFacts> here = applications_here();
    std::size_t width = 0;
    for (const apps::ApplicationFacts& row : here) width = std::max(width, row.name.size());
    std::string text;
    for (const apps::ApplicationFacts& row : here) {
        text += fmt::format("{:<{}}  {}\n", row.name, width, row.summary);
    }
    write_to_stdout(text);
    return ExitCode::done;
}

/// `strid run NAME ...` and `strid explain NAME ...`: everything behind NAME is the program's.
int launch(const std::string& command, const std::string& description, int argc, char** argv) {
    const std::string_view name = argc > 1 ? argv[1] : "";
    if (apps::find_application(name) != nullptr) {
        const std::string program = program_of(name);
        if (program.empty()) {
            throw GraphError(
                fmt::format("{} was not built: the target `papers` of the build has it", name));
        }
        std::string word = command;
        std::vector<char*> arguments{word.data()};
        arguments.insert(arguments.end(), argv + 2, argv + argc);
        arguments.push_back(nullptr);
        tool::become(program, arguments.data());
    }
    CLI::App app{description, "strid " + command};
    app.require_subcommand(1);
    for (const auto& row : applications_here()) {
        app.add_subcommand(std::string(row.name), std::string(row.summary));
    }
    if (const auto code = parse_arguments(app, argc, argv)) return *code;
    return ExitCode::usage;
}

int launcher_main(int argc, char** argv) {
    const std::string called = fs::path(argv[0]).filename().string();
    if (called == "strid-list") return list(argc, argv);
    if (called == "strid-explain") {
        return launch("explain", "Show how an application would be laid out", argc, argv);
    }
    return launch("run", "Run an application", argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
    return with_errors_reported([&] { return launcher_main(argc, argv); });
}
