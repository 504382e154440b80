// SPDX-License-Identifier: Apache-2.0
//
// strid denoise: pictures and frames without their salt-and-pepper noise.
#include <CLI/CLI.hpp>

#include <strid/program/arguments.hpp>

#include "denoise_command.hpp"
#include "denoise_help.hpp"
#include "tools/common/interruption.hpp"

int main(int argc, char** argv) {
    using namespace strid;
    return tool::run_program([&](const tool::Interruption& interruption) {
        CLI::App app{denoise::description, "strid denoise"};
        app.footer(denoise::footer);
        denoise::DenoiseCommand command;
        denoise::add_denoise_options(app, command);
        if (const auto code = parse_arguments(app, argc, argv)) return *code;
        denoise::FrameJob job = denoise::make_job(command, interruption);
        denoise::run_frames(job, interruption);
        return ExitCode::done;
    });
}
