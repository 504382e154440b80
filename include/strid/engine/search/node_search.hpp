// SPDX-License-Identifier: Apache-2.0
//
// The way from the root of a B+-tree (tree_nodes.hpp) to a leaf. Numbers are compared by AVX2 where
// the processor has it, else in a loop without branches; other keys by bisection.
//
// Threads: stateless, any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>

#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/search/tree_nodes.hpp>
#include <strid/engine/search/wide_search.hpp>

namespace strid::memory {

/// A place in a leaf: behind the keys that come before.
template <class Key>
struct TreePlace {
    TreeNode<Key>* leaf;
    std::size_t index;
};

/// Which keys a search goes past: those that are less, or those that are not greater.
enum class Past : std::uint8_t { less, equal };

/// Asks for the children of a node while its keys are compared: else the child that they choose
/// would be another wait.
template <class Key>
void prefetch_children(const TreeInner<Key>& inner) noexcept {
    const auto* const bytes = reinterpret_cast<const char*>(inner.children);
    for (std::size_t at = 0; at < std::min(sizeof inner.children, 4 * cache_line_bytes);
         at += cache_line_bytes) {
        prefetch_for_read(bytes + at);
    }
}

template <Past past, class Key, class Query>
[[nodiscard]] std::size_t count_past(const TreeNode<Key>& node, const Query& query) noexcept {
    const Key* const keys = node.keys();
    const auto is_past = [&query](const Key& key) {
        return past == Past::less ? static_cast<bool>(key < query) : !(query < key);
    };
    if constexpr (is_plain_number<Key> && std::is_same_v<Key, Query>) {
        std::size_t count = 0;
        for (std::size_t i = 0; i != tree_node_keys<Key>; ++i) {
            count += static_cast<std::size_t>(is_past(keys[i]));
        }
        // Behind the last key are values that are not less than any query, but may be equal.
        return past == Past::less ? count : std::min<std::size_t>(count, node.count);
    } else {
        const Key* const behind = std::partition_point(keys, keys + node.count, is_past);
        return static_cast<std::size_t>(behind - keys);
    }
}

/// The same, several keys at once, where compares_wide().
template <Past past, WideKey Key>
[[nodiscard]] TreePlace<Key> descend_wide(TreeNode<Key>* root, std::size_t levels,
                                          Key query) noexcept;
/// For several queries side by side.
template <WideKey Key>
void descend_wide(TreeNode<Key>* root, std::size_t levels, std::span<const Key> queries,
                  TreePlace<Key>* places) noexcept;

/// From the root, over `levels` of inner nodes.
template <Past past, class Key, class Query>
[[nodiscard]] TreePlace<Key> descend(TreeNode<Key>* root, std::size_t levels,
                                     const Query& query) noexcept {
    TreeNode<Key>* node = root;
    for (; levels != 0; --levels) {
        const auto* const inner = static_cast<TreeInner<Key>*>(node);
        prefetch_children(*inner);
        node = inner->children[count_past<past>(*inner, query)];
    }
    return {node, count_past<past>(*node, query)};
}

/// The same for several queries, past what is less: while one waits for its node, the others
/// continue.
template <class Key, class Query>
void descend(TreeNode<Key>* root, std::size_t levels, std::span<const Query> queries,
             TreePlace<Key>* places) noexcept {
    constexpr std::size_t abreast = 16;
    for (std::size_t first = 0; first < queries.size(); first += abreast) {
        const std::size_t some = std::min(abreast, queries.size() - first);
        TreePlace<Key>* const here = places + first;
        for (std::size_t i = 0; i != some; ++i) here[i].leaf = root;
        for (std::size_t level = levels; level != 0; --level) {
            for (std::size_t i = 0; i != some; ++i) {
                const auto* const inner = static_cast<TreeInner<Key>*>(here[i].leaf);
                here[i].leaf = inner->children[count_past<Past::less>(*inner, queries[first + i])];
                prefetch_object(here[i].leaf);
            }
        }
        for (std::size_t i = 0; i != some; ++i) {
            here[i].index = count_past<Past::less>(*here[i].leaf, queries[first + i]);
        }
    }
}

}  // namespace strid::memory
