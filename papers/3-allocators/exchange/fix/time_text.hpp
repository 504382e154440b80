// SPDX-License-Identifier: Apache-2.0
//
// Times of FIX (UTCTimestamp): 20261127-05:17:00.123. Any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace strid::exchange::fix {

/// To the millisecond.
[[nodiscard]] std::string utc_timestamp(std::chrono::system_clock::time_point time);
[[nodiscard]] inline std::string utc_timestamp() {
    return utc_timestamp(std::chrono::system_clock::now());
}

/// The time of a UTCTimestamp, without a fraction or with one of 3, 6 or 9 digits; nothing where
/// `text` is none. A leap second is the first second behind it.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> read_utc_timestamp(
    std::string_view text) noexcept;

}  // namespace strid::exchange::fix
