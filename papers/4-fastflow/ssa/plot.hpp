// SPDX-License-Identifier: Apache-2.0
//
// A picture of the statistics, drawn by the program gnuplot, which is started with a script and the
// data in memory and gives SVG back. Functions without state; any thread.
#pragma once

#include <string>
#include <vector>

#include "method.hpp"
#include "statistics.hpp"

namespace strid::ssa {

/// Throws Error where gnuplot cannot be run: to be asked before the work.
void check_gnuplot();

/// The mean of each species over time and, where there are two quantiles at least, the band between
/// the lowest and the highest. Throws Error, with what gnuplot says.
[[nodiscard]] std::string draw(const Statistics& statistics, const Network& network,
                               const Plan& plan, const std::vector<double>& quantiles);

}  // namespace strid::ssa
