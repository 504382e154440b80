// SPDX-License-Identifier: Apache-2.0
//
// Decimal digits to a number, eight at a time: a few operations on a word of text give the number
// of its digits and their value, without a branch for each. Stateless; any thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace strid::detail {

/// Of 8 characters, the first in the lowest byte: how many digits they begin with.
[[nodiscard]] constexpr unsigned leading_digits(std::uint64_t text) noexcept {
    // A byte above '9' sets its highest bit in the sum, one below '0' in the difference. Carries
    // and borrows run from the first byte that is none into later ones only.
    const std::uint64_t above = text + 0x4646464646464646;
    const std::uint64_t below = text - 0x3030303030303030;
    const std::uint64_t others = (above | below) & 0x8080808080808080;
    return static_cast<unsigned>(std::countr_zero(others)) / 8;
}

/// The number that the first `count` of 8 characters stand for, 1 to 8 digits.
[[nodiscard]] constexpr std::uint64_t number_of_digits(std::uint64_t text,
                                                       unsigned count) noexcept {
    // As if zeros came before them; then pairs, fours and eights of digits are put together.
    std::uint64_t digits = (text - 0x3030303030303030) << (64 - 8 * count);
    digits = digits * 10 + (digits >> 8);
    constexpr std::uint64_t pairs = 0x000000ff000000ff;
    return ((digits & pairs) * (100 + (std::uint64_t{1'000'000} << 32)) +
            (digits >> 16 & pairs) * (1 + (std::uint64_t{10'000} << 32))) >>
           32;
}

/// Takes the digits at `p` and returns how many they are; `number` has their value where they are
/// 18 at most. 8 bytes behind the last digit may be read.
[[gnu::always_inline]] inline std::ptrdiff_t take_digits(const char*& p,
                                                         std::uint64_t& number) noexcept {
    const char* const first = p;
    number = 0;
    if constexpr (std::endian::native == std::endian::little) {
        std::uint64_t text;
        std::memcpy(&text, p, sizeof text);
        const unsigned count = leading_digits(text);
        if (count == 0) return 0;
        number = number_of_digits(text, count);
        p += count;
        if (count < sizeof text) [[likely]]
            return count;
    }
    for (unsigned digit; (digit = static_cast<unsigned char>(*p) - unsigned{'0'}) < 10; ++p) {
        number = number * 10 + digit;
    }
    return p - first;
}

}  // namespace strid::detail
