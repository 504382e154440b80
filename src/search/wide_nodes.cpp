// SPDX-License-Identifier: Apache-2.0
//
// The way through a B+-tree that changes by AVX2 (node_search.hpp).
#include <algorithm>

#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/search/node_search.hpp>

#include "wide_lanes.hpp"

#ifdef __x86_64__

namespace strid::memory {

namespace {

template <Past past, class Key>
STRID_WIDE std::size_t count_past_wide(const TreeNode<Key>& node, Key query) noexcept {
    using Lane = Lanes<Key>;
    constexpr std::size_t at_once = sizeof(__m256i) / sizeof(Key);
    static_assert(tree_node_keys<Key> % at_once == 0);
    const Key* const keys = node.keys();
    const auto all = Lane::all(query);
    __m256i counts = _mm256_setzero_si256();
    for (std::size_t i = 0; i != tree_node_keys<Key>; i += at_once) {
        if constexpr (past == Past::less) {
            counts = add_true<sizeof(Key)>(counts, Lane::less(keys + i, all));
        } else {
            counts = add_true<sizeof(Key)>(counts, Lane::greater(keys + i, all));
        }
    }
    const std::size_t count = sum_of_lanes<sizeof(Key)>(counts);
    if constexpr (past == Past::less) return count;
    return std::min<std::size_t>(tree_node_keys<Key> - count, node.count);
}

template <Past past, class Key>
[[gnu::target("avx2")]] TreePlace<Key> descend_one(TreeNode<Key>* node, std::size_t levels,
                                                   Key query) noexcept {
    for (; levels != 0; --levels) {
        const auto* const inner = static_cast<TreeInner<Key>*>(node);
        prefetch_children(*inner);
        node = inner->children[count_past_wide<past, Key>(*inner, query)];
    }
    return {node, count_past_wide<past, Key>(*node, query)};
}

template <class Key>
[[gnu::target("avx2")]] void descend_some(TreeNode<Key>* root, std::size_t levels,
                                          std::span<const Key> queries,
                                          TreePlace<Key>* places) noexcept {
    for (std::size_t i = 0; i != queries.size(); ++i) places[i].leaf = root;
    for (std::size_t level = levels; level != 0; --level) {
        for (std::size_t i = 0; i != queries.size(); ++i) {
            const auto* const inner = static_cast<TreeInner<Key>*>(places[i].leaf);
            places[i].leaf = inner->children[count_past_wide<Past::less, Key>(*inner, queries[i])];
            prefetch_object(places[i].leaf);
        }
    }
    for (std::size_t i = 0; i != queries.size(); ++i) {
        places[i].index = count_past_wide<Past::less, Key>(*places[i].leaf, queries[i]);
    }
}

}  // namespace

template <Past past, WideKey Key>
TreePlace<Key> descend_wide(TreeNode<Key>* root, std::size_t levels, Key query) noexcept {
    return descend_one<past, Key>(root, levels, query);
}

template <WideKey Key>
void descend_wide(TreeNode<Key>* root, std::size_t levels, std::span<const Key> queries,
                  TreePlace<Key>* places) noexcept {
    constexpr std::size_t at_once = 16;
    for (; !queries.empty(); places += at_once) {
        const std::size_t some = std::min(at_once, queries.size());
        descend_some<Key>(root, levels, queries.first(some), places);
        queries = queries.subspan(some);
    }
}

#define STRID_DESCEND_WIDE(Key)                                                         \
    template TreePlace<Key> descend_wide<Past::less, Key>(TreeNode<Key>*, std::size_t,  \
                                                          Key) noexcept;                \
    template TreePlace<Key> descend_wide<Past::equal, Key>(TreeNode<Key>*, std::size_t, \
                                                           Key) noexcept;               \
    template void descend_wide<Key>(TreeNode<Key>*, std::size_t, std::span<const Key>,  \
                                    TreePlace<Key>*) noexcept
STRID_DESCEND_WIDE(std::uint64_t);
STRID_DESCEND_WIDE(std::int64_t);
STRID_DESCEND_WIDE(double);
STRID_DESCEND_WIDE(std::uint32_t);
STRID_DESCEND_WIDE(std::int32_t);
STRID_DESCEND_WIDE(float);
#undef STRID_DESCEND_WIDE

}  // namespace strid::memory

#endif
