// SPDX-License-Identifier: Apache-2.0
//
// The command line of strid-ssa. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "method.hpp"
#include "tools/common/worker_options.hpp"

namespace CLI {
class App;
}

namespace strid::ssa {

struct Arguments {
    std::string model;
    std::string output = "-";
    std::string trajectories = {};  ///< empty: none
    std::string plot = {};          ///< empty: none
    Plan plan;
    std::uint64_t runs = 1000;
    std::vector<double> quantiles{0.05, 0.5, 0.95};
    tool::WorkerOptions workers = {};
    bool quiet = false;
};

/// Adds the options, to be parsed into `arguments`, which must outlive the parsing.
void add_options(CLI::App& app, Arguments& arguments);

/// Throws GraphError where options do not go together, or a file would be written and read.
void check(const Arguments& arguments);

}  // namespace strid::ssa
