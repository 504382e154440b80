// SPDX-License-Identifier: Apache-2.0
//
// The order in memory of the nodes of a balanced binary tree (paper 5): the shape of the tree over
// ranks 0 to n - 1, and the place of each rank in breadth-first, depth-first and van Emde Boas
// order. Plain functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strid::memory {

enum class NodeOrder : std::uint8_t { breadth_first, depth_first, van_emde_boas };

/// The ranks of a subtree, `first` to `last` - 1. Its root is the middle one.
struct RankRange {
    std::size_t first;
    std::size_t last;

    [[nodiscard]] bool empty() const noexcept { return first == last; }
    [[nodiscard]] std::size_t middle() const noexcept { return first + (last - first) / 2; }
    [[nodiscard]] RankRange left() const noexcept { return {first, middle()}; }
    [[nodiscard]] RankRange right() const noexcept { return {middle() + 1, last}; }
};

/// A node of the balanced tree: its rank and its subtrees, which may be empty.
struct BalancedNode {
    std::size_t rank;
    RankRange left;
    RankRange right;
};

/// For each rank below `size` its place in the order, from 0 on. O(n).
[[nodiscard]] std::vector<std::uint32_t> places_of_ranks(std::size_t size, NodeOrder order);

/// Calls `visit` for each node of the balanced tree over the ranks, in an unspecified order. O(n),
/// recursion log n deep.
template <class Visit>
void for_each_of_balanced_tree(const RankRange& ranks, const Visit& visit) {
    if (ranks.empty()) return;
    visit(BalancedNode{ranks.middle(), ranks.left(), ranks.right()});
    for_each_of_balanced_tree(ranks.left(), visit);
    for_each_of_balanced_tree(ranks.right(), visit);
}
template <class Visit>
void for_each_of_balanced_tree(std::size_t size, const Visit& visit) {
    for_each_of_balanced_tree(RankRange{0, size}, visit);
}

}  // namespace strid::memory
