// SPDX-License-Identifier: Apache-2.0
//
// The command lines `strid run NAME` and `strid explain NAME`. One thread.
#pragma once

#include <cstddef>
#include <memory>

#include <strid/stream/options.hpp>

#include "application.hpp"

namespace strid::apps {

/// The main() of an application's program, called as `PROGRAM run OPTION...` or `PROGRAM explain
/// OPTION...`. Returns the exit code.
[[nodiscard]] int application_main(int argc, char** argv, std::unique_ptr<Application> (*make)());

/// Cores that this process may use.
[[nodiscard]] std::size_t cores();

/// The options of a run, with the source of a replay as parallel as the rest: text in memory can
/// be read by any number of replicas.
[[nodiscard]] RunOptions replay_options(const RunOptions& options, const Application& application);

}  // namespace strid::apps
