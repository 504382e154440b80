// SPDX-License-Identifier: Apache-2.0
//
// Events at the limits of what a time can be.
#pragma once

#include <limits>
#include <vector>

#include "../windows.hpp"

namespace strid::test {

/// Records at both ends of what a time can be, and in the middle.
inline std::vector<Event> events_at_the_limits() {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::vector<Event> events;
    for (const std::int64_t time : {least, least + 1, least + 39, least + 1'000, std::int64_t{0},
                                    most - 1'000, most - 39, most - 1, most}) {
        for (std::uint32_t key = 0; key < 3; ++key) events.push_back({key, at(time), 1});
    }
    return events;
}

}  // namespace strid::test
