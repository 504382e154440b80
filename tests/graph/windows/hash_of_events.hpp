// SPDX-License-Identifier: Apache-2.0
//
// A fold over events that depends on each and on their order.
#pragma once

#include <cstdint>
#include <span>

#include "../windows.hpp"

namespace strid::test {

/// Shows any other order, a record too many or too few.
struct HashOn {
    void operator()(std::uint64_t& hash, const Event& event) const {
        hash =
            (hash * 31 + static_cast<std::uint64_t>(event.time.ns() * 7 + event.value)) % 1'000'003;
    }
};
inline constexpr std::uint64_t first_hash = 1;

inline std::uint64_t hash_in_order(std::span<const Event> events) {
    std::uint64_t hash = first_hash;
    for (const Event& event : events) HashOn{}(hash, event);
    return hash;
}

}  // namespace strid::test
