// SPDX-License-Identifier: Apache-2.0
//
// A static B-tree without pointers: the sorted keys, cut into nodes, and layers of nodes above them
// whose keys separate the subtrees below. The number of a node gives the numbers of its children,
// so a node holds keys only. All nodes are full except at the right edge, where they are filled up
// with the greatest key.
//
//     layer 1            [ 8 | 16 ]
//     layer 0   [1 .. 7] [8 .. 15] [16 .. 20 20 20]
//
// A search visits one node of each layer, and counts the keys in it that are not greater: there is
// no branch to mispredict. Several searches descend side by side: while one waits for its next
// node, the others continue (paper 5, "use explicit data prefetching"). Numbers are compared
// several at once where the processor supports it (wide_search.hpp).
//
// Threads: immutable after construction; any thread. Slots are ranks: key(slot) ascends.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/search/key_checks.hpp>
#include <strid/engine/search/wide_search.hpp>
#include <strid/memory/table_allocator.hpp>
#include <strid/search/search_keys.hpp>

namespace strid::memory {

/// `node_bytes`: the size of a node; the keys that fit are stored in it.
template <SearchKey Key, std::size_t node_bytes = wide_node_bytes>
class BTree {
  public:
    /// Keys of a node.
    static constexpr std::size_t node_keys =
        std::bit_floor(std::max<std::size_t>(node_bytes / sizeof(Key), 4));
    /// Searches that descend side by side.
    static constexpr std::size_t abreast = 16;

    BTree() = default;
    /// O(n). Throws std::invalid_argument (check_search_keys).
    explicit BTree(std::span<const Key> sorted) : size_(sorted.size()) {
        check_search_keys(sorted);
        if (!sorted.empty()) build(sorted);
    }

    /// How many keys.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Of the arena.
    [[nodiscard]] std::size_t bytes() const noexcept { return keys_.size() * sizeof(Key); }
    /// O(1), for slots below size().
    [[nodiscard]] const Key& key(TreeSlot slot) const noexcept {
        STRID_ASSERT(slot < size_);
        return leaves()[slot];
    }

    /// The slot of the greatest key that is not greater than `query`; no_slot if all are greater,
    /// and for NaN. O(log n), a node for each layer.
    template <SearchesFor<Key> Query>
    [[nodiscard]] TreeSlot at_or_before(const Query& query) const noexcept {
        if (size_ == 0 || !is_ordered(query)) return no_slot;
        if constexpr (is_wide<Query>) {
            if (searches_wide_) return search_wide<Key>(shape(), query);
        }
        if (!(query < greatest())) return static_cast<TreeSlot>(size_ - 1);
        std::size_t node = 0;
        for (std::size_t layer = 0; layer + 1 < layer_count_; ++layer) {
            node = node * (node_keys + 1) + not_greater(node_at(layer, node), query);
        }
        return static_cast<TreeSlot>(node * node_keys +
                                     not_greater(leaves() + node * node_keys, query) - 1);
    }

    /// The same for several, side by side: `slots[i]` is the slot for `queries[i]`.
    template <SearchesFor<Key> Query>
    void at_or_before(std::span<const Query> queries, std::span<TreeSlot> slots) const noexcept {
        STRID_ASSERT(slots.size() >= queries.size());
        if (size_ == 0) {
            std::fill_n(slots.begin(), queries.size(), no_slot);
            return;
        }
        if constexpr (is_wide<Query>) {
            if (searches_wide_) return search_wide<Key>(shape(), queries, slots.data());
        }
        while (!queries.empty()) {
            const std::size_t some = std::min(queries.size(), abreast);
            if (some == abreast) {
                search_abreast(queries.template first<abreast>(), slots.data());
            } else {
                search_abreast(queries.first(some), slots.data());
            }
            queries = queries.subspan(some);
            slots = slots.subspan(some);
        }
    }

  private:
    static constexpr std::size_t layers_max = 16;  // of nodes of four keys, 2^32 keys
    template <class Query>
    static constexpr bool is_wide = has_wide_search && std::is_same_v<Query, Key> && WideKey<Key> &&
                                    node_bytes == wide_node_bytes;

    [[nodiscard]] BTreeShape<Key> shape() const noexcept {
        return {keys_.data(), layers_.data(), layer_count_, size_};
    }

    [[nodiscard]] const Key* leaves() const noexcept { return keys_.data() + leaves_; }
    [[nodiscard]] const Key& greatest() const noexcept { return leaves()[size_ - 1]; }
    [[nodiscard]] const Key* node_at(std::size_t layer, std::size_t node) const noexcept {
        return keys_.data() + layers_[layer] + node * node_keys;
    }

    /// How many keys of a node are not greater.
    template <class Query>
    [[nodiscard]] static std::size_t not_greater(const Key* keys, const Query& query) noexcept {
        if constexpr (is_plain_number<Key>) {
            // Fetch all lines of the node at once, then bisect without branches.
            prefetch_node(keys);
            const Key* at = keys;
            for (std::size_t half = node_keys / 2; half != 0; half /= 2) {
                at += query < at[half - 1] ? 0 : half;
            }
            return static_cast<std::size_t>(at - keys) + static_cast<std::size_t>(!(query < *at));
        } else {
            const Key* const end = std::partition_point(
                keys, keys + node_keys, [&query](const Key& key) { return !(query < key); });
            return static_cast<std::size_t>(end - keys);
        }
    }

    /// One layer after the other. A query that is not less than the greatest key would leave the
    /// tree through the padding at its edge; it is kept inside.
    template <class Query, std::size_t extent>
    void search_abreast(std::span<const Query, extent> queries, TreeSlot* slots) const noexcept {
        std::array<std::size_t, abreast> nodes{};
        for (std::size_t layer = 0; layer + 1 < layer_count_; ++layer) {
            const std::size_t last = (layers_[layer + 2] - layers_[layer + 1]) / node_keys - 1;
            for (std::size_t i = 0; i < queries.size(); ++i) {
                const std::size_t child =
                    nodes[i] * (node_keys + 1) + not_greater(node_at(layer, nodes[i]), queries[i]);
                nodes[i] = std::min(child, last);
                prefetch_node(node_at(layer + 1, nodes[i]));
            }
        }
        for (std::size_t i = 0; i < queries.size(); ++i) {
            const std::size_t found =
                nodes[i] * node_keys + not_greater(leaves() + nodes[i] * node_keys, queries[i]);
            slots[i] = static_cast<TreeSlot>(std::min(found, size_) - 1);
            if (!is_ordered(queries[i])) slots[i] = no_slot;
        }
    }
    static void prefetch_node(const Key* keys) noexcept {
        const auto* const bytes = reinterpret_cast<const char*>(keys);
        constexpr std::size_t some = std::min(node_keys * sizeof(Key), 4 * cache_line_bytes);
        for (std::size_t at = 0; at < some; at += cache_line_bytes) prefetch_for_read(bytes + at);
    }

    void build(std::span<const Key> sorted) {
        std::array<std::size_t, layers_max> nodes{};  // of each layer, leaves first
        std::size_t height = 0;
        std::size_t total = 0;
        for (std::size_t below = size_;; below = nodes[height - 1]) {
            const std::size_t each = height == 0 ? node_keys : node_keys + 1;
            nodes[height] = (below + each - 1) / each;
            total += nodes[height++];
            if (nodes[height - 1] == 1) break;
        }
        layer_count_ = height;
        keys_.assign(total * node_keys, sorted.back());
        std::size_t at = 0;
        for (std::size_t layer = 0; layer < height; ++layer) {
            layers_[layer] = at;
            at += nodes[height - 1 - layer] * node_keys;
        }
        layers_[height] = at;
        leaves_ = layers_[height - 1];
        std::copy(sorted.begin(), sorted.end(),
                  keys_.begin() + static_cast<std::ptrdiff_t>(leaves_));
        // The least key of a child is the first of its leftmost leaf.
        std::size_t leaves_of_child = 1;
        for (std::size_t layer = height - 1; layer-- > 0; leaves_of_child *= node_keys + 1) {
            Key* const keys = keys_.data() + layers_[layer];
            const std::size_t count = (layers_[layer + 1] - layers_[layer]) / node_keys;
            for (std::size_t node = 0; node < count; ++node) {
                for (std::size_t i = 0; i < node_keys; ++i) {
                    const std::size_t child = node * (node_keys + 1) + i + 1;
                    const std::size_t least = child * leaves_of_child * node_keys;
                    if (least < size_) keys[node * node_keys + i] = sorted[least];
                }
            }
        }
    }

    std::size_t size_ = 0;
    std::size_t leaves_ = 0;
    bool searches_wide_ = compares_wide();
    std::size_t layer_count_ = 0;
    std::array<std::size_t, layers_max + 1> layers_{};  // where each begins, the root first
    std::vector<Key, TableAllocator<Key>> keys_;        // the arena
};

}  // namespace strid::memory
