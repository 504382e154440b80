// SPDX-License-Identifier: Apache-2.0
//
// Events that are large beside what a window needs of them.
#pragma once

#include <array>
#include <vector>

#include "../windows.hpp"

namespace strid::test {

struct Wide {
    std::array<std::int64_t, 4> before;
    std::uint32_t key;
    EventTime time;
    std::int64_t value;
    std::array<std::int64_t, 8> behind;
};

inline std::vector<Wide> widened(const std::vector<Event>& events) {
    std::vector<Wide> wide;
    for (const Event& event : events) wide.push_back({{}, event.key, event.time, event.value, {}});
    return wide;
}

}  // namespace strid::test
