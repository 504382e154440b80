// SPDX-License-Identifier: Apache-2.0
//
// The command line of strid-exchange-data.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include <strid/program/arguments.hpp>

#include "data/database.hpp"

namespace strid::exchange {

struct DataOptions {
    std::string listen;
    std::string journal = "exchange.journal";
    std::string symbols;  ///< a file; empty: every symbol
    std::string check;    ///< a journal to check instead
    Sync sync = Sync::full;
    std::size_t commands_max = 1'000;  ///< of a transaction
    std::chrono::milliseconds heartbeat{1'000};
    RunArguments run;
};

/// The exit code where the program is to end at once.
[[nodiscard]] std::optional<int> read_options(int argc, const char* const* argv,
                                              DataOptions& options);

}  // namespace strid::exchange
