// SPDX-License-Identifier: Apache-2.0
//
// Key groups: a key belongs to one of them for good, and a replica owns a range of them. Their
// number is fixed, so that state can move between replicas group by group.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strid::operators {

inline constexpr std::size_t key_group_bits = 7;
inline constexpr std::size_t key_groups = std::size_t{1} << key_group_bits;

[[nodiscard]] constexpr std::size_t key_group_of(std::uint64_t hash) noexcept {
    return static_cast<std::size_t>(hash >> (64 - key_group_bits));
}
/// The replica that has the keys of a group.
[[nodiscard]] constexpr std::size_t replica_of_group(std::size_t group,
                                                     std::size_t replicas) noexcept {
    return group * replicas / key_groups;
}

/// The keys of one replica of several.
struct KeyShare {
    std::size_t replica = 0;
    std::size_t replicas = 1;

    [[nodiscard]] bool has(std::uint64_t hash) const noexcept {
        return replica_of_group(key_group_of(hash), replicas) == replica;
    }
};

}  // namespace strid::operators
