// SPDX-License-Identifier: Apache-2.0
//
// Common to the static search trees: the keys that they take, and how keys are compared.
//
// Threads: stateless, any thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace strid::memory {

/// The place of a key in a tree, from 0 on. The layout determines it.
using TreeSlot = std::uint32_t;
/// No key.
inline constexpr TreeSlot no_slot = std::numeric_limits<TreeSlot>::max();
/// Keys of one tree.
inline constexpr std::size_t tree_keys_max = no_slot - 1;

/// A key type with `<`.
template <class Key>
concept SearchKey = std::copyable<Key> && requires(const Key& one, const Key& other) {
    { one < other } -> std::convertible_to<bool>;
};
/// The types that search for such keys: a std::string_view finds a std::string.
template <class Query, class Key>
concept SearchesFor = requires(const Query& query, const Key& key) {
    { query < key } -> std::convertible_to<bool>;
    { key < query } -> std::convertible_to<bool>;
};

}  // namespace strid::memory
