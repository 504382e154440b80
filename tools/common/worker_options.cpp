// SPDX-License-Identifier: Apache-2.0
#include "worker_options.hpp"

#include <CLI/CLI.hpp>

#include <strid/program/arguments.hpp>

namespace strid::tool {

void add_worker_options(CLI::App& app, WorkerOptions& workers, const std::string& help) {
    add_number_option(app, "--workers", workers.count, 1, WorkerOptions::count_max, help);
    app.add_flag("--pin", workers.pin,
                 "Keep each worker on one core: for a machine that runs nothing else")
        ->disable_flag_override();
}

}  // namespace strid::tool
