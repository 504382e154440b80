// SPDX-License-Identifier: Apache-2.0
//
// Cuts a line into words: what stands between spaces (the character 0x20 only) and is not empty.
// Looks at 64 bytes at a time, so that a branch is spent per word and not per byte. Stateless.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace strid::apps::word_count {

inline constexpr std::size_t block_bytes = 64;

/// Bit i: the byte `block[i]` is a space.
[[nodiscard]] inline std::uint64_t spaces_of(const char* block) noexcept {
    std::uint64_t spaces = 0;
#ifdef __SSE2__
    const __m128i space = _mm_set1_epi8(' ');
    for (std::size_t i = 0; i < block_bytes; i += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + i));
        const int found = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, space));
        spaces |= std::uint64_t{static_cast<std::uint32_t>(found)} << i;
    }
#else
    for (std::size_t i = 0; i < block_bytes; ++i) {
        spaces |= std::uint64_t{block[i] == ' '} << i;
    }
#endif
    return spaces;
}

/// Calls `visit(std::string_view)` for every word of the line, first to last.
template <class Visit>
void for_each_word(std::string_view line, Visit&& visit) {
    const char* word = line.data();
    const char* const end = word + line.size();
    const auto visit_up_to = [&](const char* space) {
        if (space != word) visit(std::string_view(word, static_cast<std::size_t>(space - word)));
        word = space + 1;
    };
    for (const char* block = word; block < end; block += block_bytes) {
        const auto left = static_cast<std::size_t>(end - block);
        std::uint64_t spaces = 0;
        if (left >= block_bytes) {
            spaces = spaces_of(block);
        } else {
            char last[block_bytes]{};  // nothing behind the line is touched
            std::memcpy(last, block, left);
            spaces = spaces_of(last);
        }
        for (; spaces != 0; spaces &= spaces - 1) visit_up_to(block + std::countr_zero(spaces));
        if (left < block_bytes) break;
    }
    if (word < end) visit_up_to(end);
}

}  // namespace strid::apps::word_count
