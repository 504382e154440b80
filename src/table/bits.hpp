// SPDX-License-Identifier: Apache-2.0
//
// Sets of rows, a bit for each. Stateless.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <strid/table/chunk.hpp>

namespace strid::table {

inline constexpr std::size_t words_max = chunk_rows_max / 64;
using Bits = std::array<std::uint64_t, words_max>;

/// Words with the bits of so many rows.
[[nodiscard]] constexpr std::size_t words_for(std::size_t rows) noexcept {
    return (rows + 63) / 64;
}
/// The bits of the last word that are of rows; all of them if it is full.
[[nodiscard]] constexpr std::uint64_t last_word(std::size_t rows) noexcept {
    return rows % 64 == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << (rows % 64)) - 1;
}
/// Whether the bits of the first rows are all set.
[[nodiscard]] inline bool all_set(const std::uint64_t* bits, std::size_t rows) noexcept {
    if (rows == 0) return true;
    const std::size_t words = words_for(rows);
    std::uint64_t clear = 0;
    for (std::size_t i = 0; i + 1 != words; ++i) clear |= ~bits[i];
    return (clear | (~bits[words - 1] & last_word(rows))) == 0;
}
[[nodiscard]] inline bool is_set(const std::uint64_t* bits, std::size_t row) noexcept {
    return (bits[row / 64] >> (row % 64) & 1) != 0;
}
/// The bits of bytes that are 0 or 1, eight at a time; those behind the last row are clear. Bytes
/// up to the end of the word may be read.
inline void bits_of_bytes(const std::uint8_t* bytes, std::size_t rows,
                          std::uint64_t* bits) noexcept {
    const std::size_t words = words_for(rows);
    for (std::size_t word = 0; word != words; ++word) {
        std::uint64_t gathered = 0;
#ifdef __SSE2__
        for (std::size_t part = 0; part != 4; ++part) {
            const __m128i sixteen =
                _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + word * 64 + part * 16));
            const int mask = _mm_movemask_epi8(_mm_slli_epi16(sixteen, 7));
            gathered |= std::uint64_t{static_cast<unsigned>(mask)} << (part * 16);
        }
#else
        for (std::size_t part = 0; part != 8; ++part) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, bytes + word * 64 + part * 8, sizeof eight);
            // Byte i is moved to bit 56 + i; no two products meet in a bit.
            gathered |= (eight & 0x0101010101010101) * 0x0102040810204080 >> 56 << (part * 8);
        }
#endif
        bits[word] = gathered;
    }
    if (words != 0) bits[words - 1] &= last_word(rows);
}

}  // namespace strid::table
