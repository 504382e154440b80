// SPDX-License-Identifier: Apache-2.0
//
// The Huffman codes of a block: lengths for frequencies, codes for lengths, and their decoding. As
// bzip2 makes and reads them, to the bit. Values, and functions without state; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bit_reader.hpp"

namespace strid::compress {

/// Two symbols of runs, 255 places behind the first, and the end of the block.
inline constexpr std::size_t symbols_max = 258;
inline constexpr unsigned code_bits_max = 20;
inline constexpr std::size_t codes_min =
    2;  ///< Of a block, of which each group of symbols has one.
inline constexpr std::size_t codes_max = 6;
inline constexpr std::size_t group_symbols = 50;
inline constexpr std::size_t groups_max = 18'002;  ///< Of 900,000 symbols and the end.

using CodeLengths = std::array<std::uint8_t, symbols_max>;
using Codes = std::array<std::uint32_t, symbols_max>;

/// Lengths up to 17 bits, so that the symbols take the fewest bits; `frequencies` of 0 count as 1.
/// The weight of frequencies is halved until the longest one fits.
void make_code_lengths(std::span<const std::uint32_t> frequencies, CodeLengths& lengths);

/// In the order of lengths, and of symbols of one length.
void assign_codes(std::span<const std::uint8_t> lengths, Codes& codes);

/// Decodes one code: a look into a table for short ones, a walk over the lengths for the others.
class PrefixDecoder {
  public:
    static constexpr std::uint32_t no_symbol = 0xffff;

    /// Any lengths from 1 to 20, also such that are not those of a whole code.
    void set(std::span<const std::uint8_t> lengths) noexcept;

    /// `no_symbol` where the bits are no code. Needs 20 filled bits.
    [[nodiscard]] std::uint32_t take(BitReader& reader) const noexcept {
        const std::uint32_t found = short_codes_[reader.peek(short_bits)];
        if (found != 0) [[likely]] {
            reader.skip(found & 31);
            return found >> 5;
        }
        return take_long(reader);
    }

  private:
    static constexpr unsigned short_bits = 10;

    struct Found {
        std::uint32_t symbol;
        unsigned bits;
    };
    [[nodiscard]] std::uint32_t take_long(BitReader& reader) const noexcept;
    /// Of a code of at most `most` of the 20 bits.
    [[nodiscard]] Found find(std::uint32_t bits, unsigned most) const noexcept;

    unsigned bits_min_ = 0;
    // Of each length: the largest code (below zero: there is none), and that of the first symbol.
    std::array<std::int64_t, code_bits_max + 1> largest_{};
    std::array<std::int64_t, code_bits_max + 1> first_{};
    std::array<std::uint16_t, symbols_max> symbols_{};  // in the order of their codes
    std::size_t symbol_count_ = 0;
    std::array<std::uint16_t, 1U << short_bits> short_codes_{};  // a symbol and its bits, 0: long
};

}  // namespace strid::compress
