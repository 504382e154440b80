// SPDX-License-Identifier: Apache-2.0
//
// Keys compared by AVX2, four or eight at once. Each function names its instruction set: no other
// function of the program may be compiled for it. Stateless; any thread.
#pragma once

#ifdef __x86_64__

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

#define STRID_WIDE [[gnu::target("avx2"), gnu::always_inline]] inline

namespace strid::memory {

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
    STRID_WIDE static __m256i less(const std::int64_t* keys, __m256i query) {
        const auto some = _mm256_load_si256(reinterpret_cast<const __m256i*>(keys));
        return _mm256_cmpgt_epi64(query, some);
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
    STRID_WIDE static __m256i less(const std::uint64_t* keys, __m256i query) {
        const auto some = _mm256_load_si256(reinterpret_cast<const __m256i*>(keys));
        return _mm256_cmpgt_epi64(query, turned(some));
    }
};
template <>
struct Lanes<double> {
    STRID_WIDE static __m256d all(double query) { return _mm256_set1_pd(query); }
    STRID_WIDE static __m256i greater(const double* keys, __m256d query) {
        return _mm256_castpd_si256(_mm256_cmp_pd(_mm256_load_pd(keys), query, _CMP_GT_OQ));
    }
    STRID_WIDE static __m256i less(const double* keys, __m256d query) {
        return _mm256_castpd_si256(_mm256_cmp_pd(_mm256_load_pd(keys), query, _CMP_LT_OQ));
    }
};
template <>
struct Lanes<std::int32_t> {
    STRID_WIDE static __m256i all(std::int32_t query) { return _mm256_set1_epi32(query); }
    STRID_WIDE static __m256i greater(const std::int32_t* keys, __m256i query) {
        const auto some = _mm256_load_si256(reinterpret_cast<const __m256i*>(keys));
        return _mm256_cmpgt_epi32(some, query);
    }
    STRID_WIDE static __m256i less(const std::int32_t* keys, __m256i query) {
        const auto some = _mm256_load_si256(reinterpret_cast<const __m256i*>(keys));
        return _mm256_cmpgt_epi32(query, some);
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
    STRID_WIDE static __m256i less(const std::uint32_t* keys, __m256i query) {
        const auto some = _mm256_load_si256(reinterpret_cast<const __m256i*>(keys));
        return _mm256_cmpgt_epi32(query, turned(some));
    }
};
template <>
struct Lanes<float> {
    STRID_WIDE static __m256 all(float query) { return _mm256_set1_ps(query); }
    STRID_WIDE static __m256i greater(const float* keys, __m256 query) {
        return _mm256_castps_si256(_mm256_cmp_ps(_mm256_load_ps(keys), query, _CMP_GT_OQ));
    }
    STRID_WIDE static __m256i less(const float* keys, __m256 query) {
        return _mm256_castps_si256(_mm256_cmp_ps(_mm256_load_ps(keys), query, _CMP_LT_OQ));
    }
};

/// The sum of lanes of keys of `key_bytes`, each 0 or positive.
template <std::size_t key_bytes>
STRID_WIDE std::size_t sum_of_lanes(__m256i lanes) {
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    half = _mm_add_epi32(half, _mm_unpackhi_epi64(half, half));
    if constexpr (key_bytes == sizeof(std::int32_t)) {
        half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 1));
    }
    return static_cast<std::size_t>(_mm_cvtsi128_si32(half));
}
/// Counts the lanes in which a comparison is true, which is -1.
template <std::size_t key_bytes>
STRID_WIDE __m256i add_true(__m256i counts, __m256i is_true) {
    if constexpr (key_bytes == sizeof(std::int64_t)) {
        return _mm256_sub_epi64(counts, is_true);
    } else {
        return _mm256_sub_epi32(counts, is_true);
    }
}

}  // namespace strid::memory

#endif
