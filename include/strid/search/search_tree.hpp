// SPDX-License-Identifier: Apache-2.0
//
// Static search trees over sorted keys, in one arena each, in the layouts of paper 5:
//
//     const SearchTree<std::uint64_t, TreeLayout::b_tree> tree{sorted};
//     const TreeSlot slot = tree.at_or_before(key);     // no_slot: all keys are greater
//     tree.at_or_before(queries, slots);                // several, side by side
//
// All layouts have the same functions; they differ in the slot of a key (key(slot)). The B-tree is
// the fastest; its slots are ranks. bench/lookup/search_tree_bench measures them beside std::set
// and std::lower_bound.
//
// Threads: immutable after construction; any thread.
#pragma once

#include <cstdint>

#include <strid/search/b_tree.hpp>
#include <strid/search/breadth_first_tree.hpp>
#include <strid/search/offset_tree.hpp>
#include <strid/search/search_keys.hpp>

namespace strid::memory {

/// How the keys of a tree lie in memory.
enum class TreeLayout : std::uint8_t {
    breadth_first,  ///< Keys alone; children by their number (Eytzinger).
    depth_first,    ///< Nodes with 32-bit offsets.
    van_emde_boas,  ///< Nodes with 32-bit offsets.
    b_tree          ///< Keys alone, in nodes of four cache lines.
};

namespace detail {

template <class Key, TreeLayout layout>
struct TreeOf {
    using type = OffsetTree<Key, layout == TreeLayout::depth_first ? NodeOrder::depth_first
                                                                   : NodeOrder::van_emde_boas>;
};
template <class Key>
struct TreeOf<Key, TreeLayout::breadth_first> {
    using type = BreadthFirstTree<Key>;
};
template <class Key>
struct TreeOf<Key, TreeLayout::b_tree> {
    using type = BTree<Key>;
};

}  // namespace detail

/// A static search tree over sorted keys. Built once, O(n); a search is O(log n). Any thread may
/// search.
template <SearchKey Key, TreeLayout layout = TreeLayout::b_tree>
using SearchTree = typename detail::TreeOf<Key, layout>::type;

/// The slot of the key that equals `query`; no_slot if there is none. O(log n).
template <class Tree, class Query>
[[nodiscard]] TreeSlot find_in(const Tree& tree, const Query& query) noexcept {
    const TreeSlot slot = tree.at_or_before(query);
    return slot != no_slot && !(tree.key(slot) < query) ? slot : no_slot;
}

}  // namespace strid::memory
