// SPDX-License-Identifier: Apache-2.0
//
// Points in time in reports and logs. A pure function, any thread.
#pragma once

#include <chrono>
#include <string>

namespace strid {

/// As ISO 8601 in UTC, to the millisecond: 2026-11-30T22:18:12.042Z.
[[nodiscard]] std::string utc_text(std::chrono::system_clock::time_point time);

}  // namespace strid
