// SPDX-License-Identifier: Apache-2.0
//
// The checks of the keys of a static search tree.
//
// Threads: stateless, any thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <type_traits>

#include <strid/search/search_keys.hpp>

namespace strid::memory {

/// Keys that one instruction compares, so that comparing several is cheaper than a branch.
template <class Key>
inline constexpr bool is_plain_number = std::is_arithmetic_v<Key> || std::is_enum_v<Key>;

/// NaN has no place in the order of keys.
template <class Key>
[[nodiscard]] constexpr bool is_ordered(const Key& key) noexcept {
    if constexpr (std::floating_point<Key>) {
        return key == key;
    } else {
        return true;
    }
}

/// Throws std::invalid_argument if the keys are not in ascending order, two are equal, one is NaN,
/// or there are more than `tree_keys_max`. O(n).
template <class Key>
void check_search_keys(std::span<const Key> keys) {
    if (keys.size() > tree_keys_max) throw std::invalid_argument("too many keys for a search tree");
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!is_ordered(keys[i])) throw std::invalid_argument("a key of a search tree is NaN");
        if (i != 0 && !(keys[i - 1] < keys[i])) {
            throw std::invalid_argument("the keys of a search tree do not ascend");
        }
    }
}

}  // namespace strid::memory
