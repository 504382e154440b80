// SPDX-License-Identifier: Apache-2.0
#include <ctime>

#include <fmt/format.h>

#include <strid/engine/base/utc_text.hpp>

namespace strid {

std::string utc_text(std::chrono::system_clock::time_point time) {
    const auto since = time.time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
    const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(since - seconds);
    const auto clock = static_cast<std::time_t>(seconds.count());
    std::tm date{};
    ::gmtime_r(&clock, &date);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", date.tm_year + 1900,
                       date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec,
                       milliseconds.count());
}

}  // namespace strid
