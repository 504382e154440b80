// SPDX-License-Identifier: Apache-2.0
//
// A static binary tree in breadth-first layout (Eytzinger): the root, then its children, then
// theirs. The children of node k are 2k and 2k + 1, so a node is only its key. The eight
// descendants three levels below a node with keys of 8 bytes are one cache line, which is fetched
// ahead.
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
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/search/key_checks.hpp>
#include <strid/memory/table_allocator.hpp>
#include <strid/search/search_keys.hpp>

namespace strid::memory {

/// A static search tree in breadth-first layout: keys alone. O(log n) a search; any thread.
template <SearchKey Key>
class BreadthFirstTree {
  public:
    /// Searches that descend side by side.
    static constexpr std::size_t abreast = 16;

    BreadthFirstTree() = default;
    /// O(n). Throws std::invalid_argument (check_search_keys).
    explicit BreadthFirstTree(std::span<const Key> sorted) : size_(sorted.size()) {
        check_search_keys(sorted);
        if (sorted.empty()) return;
        // Node 0 is not used, so that the nodes of one cache line have a common ancestor.
        nodes_.assign(size_ + 1, sorted.front());
        std::size_t next = 0;
        fill(sorted, next, 1);
    }

    /// How many keys.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Of the arena.
    [[nodiscard]] std::size_t bytes() const noexcept { return nodes_.size() * sizeof(Key); }
    /// The key at `slot`, below size().
    [[nodiscard]] const Key& key(TreeSlot slot) const noexcept {
        STRID_ASSERT(slot < size_);
        return nodes_[slot + std::size_t{1}];
    }

    /// As BTree::at_or_before. O(log n), a node for each level.
    template <SearchesFor<Key> Query>
    [[nodiscard]] TreeSlot at_or_before(const Query& query) const noexcept {
        if (!is_ordered(query)) return no_slot;
        std::size_t node = 1;
        while (node <= size_) {
            ask_for(node);
            node = 2 * node + static_cast<std::size_t>(!(query < nodes_[node]));
        }
        return slot_of(node);
    }

    /// The same for several, side by side.
    template <SearchesFor<Key> Query>
    void at_or_before(std::span<const Query> queries, std::span<TreeSlot> slots) const noexcept {
        STRID_ASSERT(slots.size() >= queries.size());
        // All levels but the last are full.
        const auto full = static_cast<std::size_t>(std::bit_width(size_ + 1)) - 1;
        std::array<std::size_t, abreast> nodes;
        for (std::size_t first = 0; first < queries.size(); first += abreast) {
            const std::size_t some = std::min(queries.size() - first, abreast);
            nodes.fill(1);
            for (std::size_t level = 0; level < full; ++level) {
                for (std::size_t i = 0; i < some; ++i) {
                    const Key& key = nodes_[nodes[i]];
                    nodes[i] = 2 * nodes[i] + static_cast<std::size_t>(!(queries[first + i] < key));
                    ask_for(nodes[i]);
                }
            }
            for (std::size_t i = 0; i < some; ++i) {
                const Query& query = queries[first + i];
                std::size_t node = nodes[i];
                if (node <= size_) {
                    node = 2 * node + static_cast<std::size_t>(!(query < nodes_[node]));
                }
                slots[first + i] = is_ordered(query) ? slot_of(node) : no_slot;
            }
        }
    }

  private:
    /// So many levels below a node, its descendants are one line.
    static constexpr std::size_t descendants =
        std::bit_floor(std::max<std::size_t>(cache_line_bytes / sizeof(Key), 2));

    void ask_for(std::size_t node) const noexcept {
        // As a number: the address may lie behind the tree.
        const auto address = reinterpret_cast<std::uintptr_t>(nodes_.data());
        prefetch_for_read(
            reinterpret_cast<const void*>(address + node * descendants * sizeof(Key)));
    }
    /// A search ended below the leaves: the last node at which it went right.
    [[nodiscard]] static TreeSlot slot_of(std::size_t node) noexcept {
        const std::size_t last = node >> (std::countr_zero(node) + 1);
        return static_cast<TreeSlot>(last - 1);  // of 0: no_slot
    }
    void fill(std::span<const Key> sorted, std::size_t& next, std::size_t node) {
        if (node > size_) return;
        fill(sorted, next, 2 * node);
        nodes_[node] = sorted[next++];
        fill(sorted, next, 2 * node + 1);
    }

    std::size_t size_ = 0;
    std::vector<Key, TableAllocator<Key>> nodes_;  // the arena
};

}  // namespace strid::memory
