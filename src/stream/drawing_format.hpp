// SPDX-License-Identifier: Apache-2.0
//
// Figures as the pictures of a graph write them. Private to src/stream.
#pragma once

#include <cstdint>
#include <string>

#include <strid/stream/drawing.hpp>

namespace strid::detail {

/// "13.4 M/s"; three significant digits with a decimal prefix. "–" for no run.
std::string rate_text(std::uint64_t records, double seconds);
/// "72 %"
std::string percent_text(double fraction);
/// "850 ns", "12.3 µs", "4.56 ms", "1.20 s"
std::string duration_text(std::int64_t nanoseconds);
/// Throws GraphError when an edge leads to a segment that is not in the description.
void check_edges(const GraphDescription& description);

}  // namespace strid::detail
