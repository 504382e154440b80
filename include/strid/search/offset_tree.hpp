// SPDX-License-Identifier: Apache-2.0
//
// A static binary tree whose nodes refer to their children by 32-bit numbers, in one arena, in the
// order of a layout (paper 5, "binary tree example"). A node takes 16 bytes; with two pointers it
// would take 24.
//
// - breadth first: level by level;
// - depth first: a node, all of its left subtree, all of its right subtree;
// - van Emde Boas: the upper half of the levels, then each of the subtrees below, each laid out in
//   the same way. A search crosses O(log_B n) lines or pages, whatever their size B.
//
// Threads: immutable after construction; any thread. A slot is the number of a node less one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/search/key_checks.hpp>
#include <strid/engine/search/tree_order.hpp>
#include <strid/memory/table_allocator.hpp>
#include <strid/search/search_keys.hpp>

namespace strid::memory {

/// A static search tree of nodes that name their children by number. O(log n) a search; any thread.
template <SearchKey Key, NodeOrder order>
class OffsetTree {
  public:
    /// Searches that descend side by side.
    static constexpr std::size_t abreast = 16;

    OffsetTree() = default;
    /// O(n). Throws std::invalid_argument (check_search_keys).
    explicit OffsetTree(std::span<const Key> sorted) {
        check_search_keys(sorted);
        if (sorted.empty()) return;
        const std::vector<std::uint32_t> places = places_of_ranks(sorted.size(), order);
        nodes_.assign(sorted.size() + 1, Node{sorted.front(), 0, 0});  // node 0 is not used
        for_each_of_balanced_tree(sorted.size(), [&](const BalancedNode& node) {
            const auto number = [&places](const RankRange& ranks) {
                return ranks.empty() ? 0 : places[ranks.middle()] + 1;
            };
            nodes_[places[node.rank] + std::size_t{1}] = {sorted[node.rank], number(node.left),
                                                          number(node.right)};
        });
        root_ = places[RankRange{0, sorted.size()}.middle()] + 1;
        levels_ = static_cast<std::size_t>(std::bit_width(sorted.size()));
    }

    /// How many keys.
    [[nodiscard]] std::size_t size() const noexcept {
        return nodes_.empty() ? 0 : nodes_.size() - 1;
    }
    /// Of the arena.
    [[nodiscard]] std::size_t bytes() const noexcept { return nodes_.size() * sizeof(Node); }
    /// The key at `slot`, below size().
    [[nodiscard]] const Key& key(TreeSlot slot) const noexcept {
        STRID_ASSERT(slot < size());
        return nodes_[slot + std::size_t{1}].key;
    }

    /// As BTree::at_or_before. O(log n), a node for each level.
    template <SearchesFor<Key> Query>
    [[nodiscard]] TreeSlot at_or_before(const Query& query) const noexcept {
        if (!is_ordered(query)) return no_slot;
        std::uint32_t found = 0;
        for (std::uint32_t at = root_; at != 0;) {
            const Node& node = nodes_[at];
            const bool is_right = !(query < node.key);
            found = is_right ? at : found;
            at = is_right ? node.right : node.left;
        }
        return found - 1;  // of 0: no_slot
    }

    /// The same for several, side by side.
    template <SearchesFor<Key> Query>
    void at_or_before(std::span<const Query> queries, std::span<TreeSlot> slots) const noexcept {
        STRID_ASSERT(slots.size() >= queries.size());
        std::array<std::uint32_t, abreast> at;
        std::array<std::uint32_t, abreast> found;
        for (std::size_t first = 0; first < queries.size(); first += abreast) {
            const std::size_t some = std::min(queries.size() - first, abreast);
            at.fill(root_);
            found.fill(0);
            // The children of node 0 are node 0.
            for (std::size_t level = 0; level < levels_; ++level) {
                for (std::size_t i = 0; i < some; ++i) {
                    const Node& node = nodes_[at[i]];
                    const bool is_right = !(queries[first + i] < node.key);
                    found[i] = is_right && at[i] != 0 ? at[i] : found[i];
                    at[i] = is_right ? node.right : node.left;
                    prefetch_for_read(nodes_.data() + at[i]);
                }
            }
            for (std::size_t i = 0; i < some; ++i) {
                slots[first + i] = is_ordered(queries[first + i]) ? found[i] - 1 : no_slot;
            }
        }
    }

  private:
    struct Node {
        Key key;
        std::uint32_t left;  // numbers of nodes; 0: none
        std::uint32_t right;
    };

    std::uint32_t root_ = 0;
    std::size_t levels_ = 0;
    std::vector<Node, TableAllocator<Node>> nodes_;  // the arena
};

}  // namespace strid::memory
