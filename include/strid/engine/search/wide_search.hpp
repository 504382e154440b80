// SPDX-License-Identifier: Apache-2.0
//
// Searches of a B-tree of numbers (b_tree.hpp) by instructions that compare four or eight keys at
// once. The processor is checked at run time, so that one program runs on every processor. With
// 10^7 keys, a search takes a third less time.
//
// Threads: stateless, any thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <strid/search/search_keys.hpp>

namespace strid::memory {

/// Whether there is a wide search for this architecture.
#ifdef __x86_64__
inline constexpr bool has_wide_search = true;
#else
inline constexpr bool has_wide_search = false;
#endif

/// The view of a B-tree for its search. Layer l begins at keys[layers[l]], the root first.
template <class Key>
struct BTreeShape {
    const Key* keys;
    const std::size_t* layers;
    std::size_t layer_count;
    std::size_t size;
};

/// Bytes of a node for the wide search.
inline constexpr std::size_t wide_node_bytes = 256;

template <class Key>
concept WideKey = std::same_as<Key, std::uint64_t> || std::same_as<Key, std::int64_t> ||
                  std::same_as<Key, double> || std::same_as<Key, std::uint32_t> ||
                  std::same_as<Key, std::int32_t> || std::same_as<Key, float>;

/// Whether the processor has such instructions. Constant time.
[[nodiscard]] bool compares_wide() noexcept;

/// As BTree::at_or_before, for trees that are not empty, where compares_wide().
template <WideKey Key>
[[nodiscard]] TreeSlot search_wide(const BTreeShape<Key>& tree, Key query) noexcept;
template <WideKey Key>
void search_wide(const BTreeShape<Key>& tree, std::span<const Key> queries,
                 TreeSlot* slots) noexcept;

}  // namespace strid::memory
