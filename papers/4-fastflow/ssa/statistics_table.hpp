// SPDX-License-Identifier: Apache-2.0
//
// Statistics and trajectories as CSV. Functions without state; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "method.hpp"
#include "statistics.hpp"

namespace strid::ssa {

/// A value with its name quoted where a comma, a quote or a line end stands in it (RFC 4180).
[[nodiscard]] std::string csv_field(std::string_view text);

/// "q05" for 0.05, "q5" never: the digits behind the point, two at least; "q100" for 1.
[[nodiscard]] std::string quantile_name(double quantile);

/// The header, and a row for each sample time and species: time, species, mean, variance and the
/// quantiles. The variance of one trajectory is empty. Calls `write` with whole lines.
void write_statistics(const Statistics& statistics, const Network& network, const Plan& plan,
                      const std::vector<double>& quantiles,
                      const std::function<void(std::string_view)>& write);

/// The header of the lines that Runner::text() has.
[[nodiscard]] std::string trajectory_header(const Network& network);

}  // namespace strid::ssa
