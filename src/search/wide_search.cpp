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

#ifdef __x86_64__

#include <immintrin.h>

namespace strid::memory {

namespace {

#define STRID_WIDE [[gnu::target("avx2"), gnu::always_inline]] inline

// Unsigned numbers are compared as signed ones with their first bit turned over.
template <class Key>
struct Lanes;

template <>
struct Lanes<std::int64_t> {
    STRID_WIDE static __m256i all(std::int64_t query) { return _mm256_set1_epi64x(query); }
    STRID_WIDE static __m256i greater(const std::int64_t* keys, __m256i query) {
        const auto some = _mm256_load_si256(reinterpret_cast<const __m256i*>(keys));
        return _mm256_cmpgt_epi64(some, query);
    }
};
template <>
struct Lanes<std::uint64_t> {
    STRID_WIDE static __m256i turned(__m256i some) {
        return _mm256_xor_si256(some, _mm256_set1_epi64x(INT64_MIN));
    }
    STRID_WIDE static __m256i all(std::uint64_t query) {
        return turned(_mm256_set1_epi64x(static_cast<std::int64_t>(query)));
    }
    STRID_WIDE static __m256i greater(const std::uint64_t* keys, __m256i query) {
        const auto some = _mm256_load_si256(reinterpret_cast<const __m256i*>(keys));
        return _mm256_cmpgt_epi64(turned(some), query);
    }
};
template <>
struct Lanes<double> {
    STRID_WIDE static __m256d all(double query) { return _mm256_set1_pd(query); }
    STRID_WIDE static __m256i greater(const double* keys, __m256d query) {
        return _mm256_castpd_si256(_mm256_cmp_pd(_mm256_load_pd(keys), query, _CMP_GT_OQ));
    }
};
template <>
struct Lanes<std::int32_t> {
    STRID_WIDE static __m256i all(std::int32_t query) { return _mm256_set1_epi32(query); }
    STRID_WIDE static __m256i greater(const std::int32_t* keys, __m256i query) {
        const auto some = _mm256_load_si256(reinterpret_cast<const __m256i*>(keys));
        return _mm256_cmpgt_epi32(some, query);
    }
};
template <>
struct Lanes<std::uint32_t> {
    STRID_WIDE static __m256i turned(__m256i some) {
        return _mm256_xor_si256(some, _mm256_set1_epi32(INT32_MIN));
    }
    STRID_WIDE static __m256i all(std::uint32_t query) {
        return turned(_mm256_set1_epi32(static_cast<std::int32_t>(query)));
    }
    STRID_WIDE static __m256i greater(const std::uint32_t* keys, __m256i query) {
        const auto some = _mm256_load_si256(reinterpret_cast<const __m256i*>(keys));
        return _mm256_cmpgt_epi32(turned(some), query);
    }
};
template <>
struct Lanes<float> {
    STRID_WIDE static __m256 all(float query) { return _mm256_set1_ps(query); }
    STRID_WIDE static __m256i greater(const float* keys, __m256 query) {
        return _mm256_castps_si256(_mm256_cmp_ps(_mm256_load_ps(keys), query, _CMP_GT_OQ));
    }
};

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
        // A true comparison is -1 in each lane.
        if constexpr (sizeof(Key) == sizeof(std::int64_t)) {
            greater = _mm256_sub_epi64(greater, Lane::greater(keys + i, all));
        } else {
            greater = _mm256_sub_epi32(greater, Lane::greater(keys + i, all));
        }
    }
    __m128i half =
        _mm_add_epi32(_mm256_castsi256_si128(greater), _mm256_extracti128_si256(greater, 1));
    half = _mm_add_epi32(half, _mm_unpackhi_epi64(half, half));
    if constexpr (sizeof(Key) == sizeof(std::int32_t)) {
        half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 1));
    }
    return node_keys<Key> - static_cast<std::size_t>(_mm_cvtsi128_si32(half));
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

#undef STRID_WIDE

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
