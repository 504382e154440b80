// SPDX-License-Identifier: Apache-2.0
//
// `strid tree`: decision trees as C4.5 grows them, the application YaDT-FF of paper 4.
#include <CLI/CLI.hpp>

#include <strid/program/arguments.hpp>

#include "commands.hpp"

int main(int argc, char** argv) {
    using namespace strid;
    return tool::run_program([&](const tool::Interruption& interruption) {
        CLI::App app{"Learns decision trees from tables as C4.5 does, and asks them.",
                     "strid tree"};
        app.require_subcommand(1);
        app.footer(
            "Examples:\n"
            "  strid tree learn --input golf.csv --target play --output golf.json\n"
            "  strid tree predict --model golf.json --input new.csv\n"
            "  strid tree learn --input iris.csv --target species --cross-validate 10\n"
            "\n"
            "strid tree COMMAND --help says more.");
        tree::Action action;
        tree::add_learn_command(app, action);
        tree::add_predict_command(app, action);
        tree::add_generate_command(app, action);
        if (const auto code = parse_arguments(app, argc, argv)) return *code;
        return action(interruption);
    });
}
