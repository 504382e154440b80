// SPDX-License-Identifier: Apache-2.0
//
// The threads of a program that runs patterns: how many, and whether each stays on a core. A plain
// value, and functions for the thread that parses.
#pragma once

#include <cstddef>
#include <string>

#include <strid/pattern/pattern_options.hpp>
#include <strid/pattern/team.hpp>

namespace CLI {
class App;
}

namespace strid::tool {

struct WorkerOptions {
    static constexpr std::size_t count_max = 1'024;

    std::size_t count = 0;  ///< 0: one for each core.
    bool pin = false;       ///< Each thread stays on one core, neighbours on near cores.

    /// Of a pattern with so many threads.
    [[nodiscard]] pattern::Options of_pattern() const {
        pattern::Options options;
        options.execution.workers = count;
        options.execution.pin = pin;
        return options;
    }
    /// Of a team with so many threads.
    [[nodiscard]] pattern::TeamOptions of_team() const noexcept {
        return {.threads = count, .pin = pin};
    }
};

/// `--workers N`, 1 to WorkerOptions::count_max, and `--pin`. `help` is that of --workers.
void add_worker_options(CLI::App& app, WorkerOptions& workers, const std::string& help);

}  // namespace strid::tool
