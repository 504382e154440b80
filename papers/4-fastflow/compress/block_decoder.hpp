// SPDX-License-Identifier: Apache-2.0
//
// Decodes a block of a bzip2 file: codes, places in a list, the inverse of the Burrows-Wheeler
// transform, and runs. It takes the same blocks as libbz2 and finds fault with the same. One
// thread; it keeps its memory, six bytes for each of a block.
//
// The inverse is a walk over a permutation, whose steps wait for memory. A second walk at once,
// from the last byte on by the inverse permutation, was tried: it is no faster, as both
// permutations together need twice the cache.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "bit_reader.hpp"
#include "block.hpp"
#include "huge_array.hpp"
#include "prefix_codes.hpp"

namespace strid::compress {

class BlockDecoder {
  public:
    struct Result {
        Decoded status;
        std::uint64_t bit_end = 0;  ///< Of `whole`: the bit of `bytes` behind the block.
    };

    /// The block whose mark is at bit `begin` of `bytes`, which end at bit `end`; `level` is that
    /// of its stream. Throws std::bad_alloc.
    Result decode(std::string_view bytes, std::uint64_t begin, std::uint64_t end, int level,
                  Bytes& output);

  private:
    /// False: the bits are no block, or end before it does.
    [[nodiscard]] bool read_header(BitReader& reader);
    [[nodiscard]] bool read_bytes_used(BitReader& reader);
    [[nodiscard]] bool read_selectors(BitReader& reader);
    [[nodiscard]] bool read_codes(BitReader& reader);
    [[nodiscard]] bool read_symbols(BitReader& reader);
    void invert();
    void make_steps();
    void undo_randomising();
    [[nodiscard]] bool undo_runs(Bytes& output) const;

    std::uint32_t size_max_ = 0;
    std::uint32_t crc_ = 0;
    std::uint32_t origin_ = 0;  // where the block itself stands among its sorted rotations
    bool is_randomised_ = false;
    std::array<unsigned char, 256> used_{};
    std::size_t used_count_ = 0;
    std::array<std::uint8_t, groups_max> selectors_{};
    std::size_t selector_count_ = 0;
    std::size_t code_count_ = 0;
    std::array<PrefixDecoder, codes_max> codes_;

    // The last column of the sorted rotations, then the bytes of the block, with its runs short.
    HugeArray<unsigned char> column_;
    HugeArray<unsigned char> short_runs_;
    unsigned char* symbols_ = nullptr;
    std::uint32_t size_ = 0;
    std::array<std::uint32_t, 256> counts_{};
    // From a row to the next, in the upper 24 bits, with the byte on the way.
    HugeArray<std::uint32_t> next_rows_;
};

}  // namespace strid::compress
