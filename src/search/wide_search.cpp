// SPDX-License-Identifier: Apache-2.0
//
// The wide search by AVX2. Each function names its instruction set: no other function of the
// program may be compiled for it.
#include <algorithm>
#include <array>

#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/search/key_checks.hpp>
#include <strid/engine/search/wide_search.hpp>

#include "wide_lanes.hpp"

#ifdef __x86_64__

namespace strid::memory {

namespace {

template <class Key>
constexpr std::size_t node_keys = wide_node_bytes / sizeof(Key);

/// The number of keys of a node that are not greater.
template <class Key>
STRID_WIDE std::size_t not_greater(const Key* keys, Key query) noexcept {
    using Lane = Lanes<Key>;
    constexpr std::size_t at_once = sizeof(__m256i) / sizeof(Key);
    const auto all = Lane::all(query);
    __m256i greater = _mm256_setzero_si256();
    for (std::size_t i = 0; i < node_keys<Key>; i += at_once) {
        greater = add_true<sizeof(Key)>(greater, Lane::greater(keys + i, all));
    }
    return node_keys<Key> - sum_of_lanes<sizeof(Key)>(greater);
}

template <class Key>
STRID_WIDE void prefetch_node(const Key* keys) noexcept {
    const auto* const bytes = reinterpret_cast<const char*>(keys);
    for (std::size_t at = 0; at < wide_node_bytes; at += cache_line_bytes) {
        prefetch_for_read(bytes + at);
    }
}

/// Nodes of a layer that is not the last.
template <class Key>
[[nodiscard]] std::size_t nodes_of(const BTreeShape<Key>& tree, std::size_t layer) noexcept {
    return (tree.layers[layer + 1] - tree.layers[layer]) / node_keys<Key>;
}

constexpr std::size_t abreast = 16;

template <class Key>
[[gnu::target("avx2")]] void search_some(const BTreeShape<Key>& tree, const Key* queries,
                                         std::size_t count, TreeSlot* slots) noexcept {
    std::array<std::size_t, abreast> nodes{};
    for (std::size_t layer = 0; layer + 1 < tree.layer_count; ++layer) {
        const std::size_t last = nodes_of(tree, layer + 1) - 1;
        const Key* const keys = tree.keys + tree.layers[layer];
        const Key* const below = tree.keys + tree.layers[layer + 1];
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t child = nodes[i] * (node_keys<Key> + 1) +
                                      not_greater(keys + nodes[i] * node_keys<Key>, queries[i]);
            nodes[i] = std::min(child, last);
            prefetch_node(below + nodes[i] * node_keys<Key>);
        }
    }
    const Key* const leaves = tree.keys + tree.layers[tree.layer_count - 1];
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t first = nodes[i] * node_keys<Key>;
        const std::size_t found = first + not_greater(leaves + first, queries[i]);
        slots[i] = is_ordered(queries[i]) ? static_cast<TreeSlot>(std::min(found, tree.size) - 1)
                                          : no_slot;
    }
}

template <class Key>
[[gnu::target("avx2")]] TreeSlot search_one(const BTreeShape<Key>& tree, Key query) noexcept {
    std::size_t node = 0;
    for (std::size_t layer = 0; layer + 1 < tree.layer_count; ++layer) {
        const Key* const keys = tree.keys + tree.layers[layer] + node * node_keys<Key>;
        node = node * (node_keys<Key> + 1) + not_greater(keys, query);
        node = std::min(node, nodes_of(tree, layer + 1) - 1);
    }
    const std::size_t first = node * node_keys<Key>;
    const Key* const leaf = tree.keys + tree.layers[tree.layer_count - 1] + first;
    const std::size_t found = std::min(first + not_greater(leaf, query), tree.size);
    return is_ordered(query) ? static_cast<TreeSlot>(found - 1) : no_slot;
}

}  // namespace

bool compares_wide() noexcept {
    static const bool has = __builtin_cpu_supports("avx2") != 0;
    return has;
}

template <WideKey Key>
TreeSlot search_wide(const BTreeShape<Key>& tree, Key query) noexcept {
    return search_one(tree, query);
}

template <WideKey Key>
void search_wide(const BTreeShape<Key>& tree, std::span<const Key> queries,
                 TreeSlot* slots) noexcept {
    for (; queries.size() >= abreast; queries = queries.subspan(abreast), slots += abreast) {
        search_some(tree, queries.data(), abreast, slots);
    }
    if (!queries.empty()) search_some(tree, queries.data(), queries.size(), slots);
}

template TreeSlot search_wide(const BTreeShape<std::uint64_t>&, std::uint64_t) noexcept;
template TreeSlot search_wide(const BTreeShape<std::int64_t>&, std::int64_t) noexcept;
template TreeSlot search_wide(const BTreeShape<double>&, double) noexcept;
template TreeSlot search_wide(const BTreeShape<std::uint32_t>&, std::uint32_t) noexcept;
template TreeSlot search_wide(const BTreeShape<std::int32_t>&, std::int32_t) noexcept;
template TreeSlot search_wide(const BTreeShape<float>&, float) noexcept;
template void search_wide(const BTreeShape<std::uint64_t>&, std::span<const std::uint64_t>,
                          TreeSlot*) noexcept;
template void search_wide(const BTreeShape<std::int64_t>&, std::span<const std::int64_t>,
                          TreeSlot*) noexcept;
template void search_wide(const BTreeShape<double>&, std::span<const double>, TreeSlot*) noexcept;
template void search_wide(const BTreeShape<std::uint32_t>&, std::span<const std::uint32_t>,
                          TreeSlot*) noexcept;
template void search_wide(const BTreeShape<std::int32_t>&, std::span<const std::int32_t>,
                          TreeSlot*) noexcept;
template void search_wide(const BTreeShape<float>&, std::span<const float>, TreeSlot*) noexcept;

}  // namespace strid::memory

#endif
