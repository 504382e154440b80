// SPDX-License-Identifier: Apache-2.0
//
// A run as text for people: the progress line and the summary. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <strid/engine/base/terminal.hpp>
#include <strid/stream/report.hpp>

namespace strid {

/// How far a run is, as one line: the rate since `before`, latency, the part done, the time left.
[[nodiscard]] std::string progress_line(const RunReport& before, const RunReport& now,
                                        double bytes_per_second);

/// The summary of a run, some lines. `how` is how it ended: "done", "stopped", "cancelled".
[[nodiscard]] std::string summary(const RunReport& report, std::uint64_t bytes,
                                  std::string_view how);

}  // namespace strid
