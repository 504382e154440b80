// SPDX-License-Identifier: Apache-2.0
//
// Encodes bytes as streams of bzip2, each of one block, or of two where runs of four make the bytes
// more. The result is that of libbz2, to the bit, but for where a block of equal parts begins. One
// thread; it keeps its memory, eight bytes for each of a block.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bits.hpp"
#include "block.hpp"
#include "huge_array.hpp"
#include "prefix_codes.hpp"
#include "rotation_sort.hpp"

namespace strid::compress {

class BlockEncoder {
  public:
    /// `bytes` as a stream with blocks of `level` hundred kilobytes. Throws std::bad_alloc.
    void encode(std::string_view bytes, int level, Bytes& output);

  private:
    using CostPair = std::array<std::uint64_t, 2>;

    /// Takes bytes from `position` on until the block is full or there are no more; true: there are
    /// none.
    bool fill_block(std::string_view bytes, std::size_t& position);
    void end_run() noexcept;
    void write_block(BitWriter& writer, std::uint32_t crc);
    void find_symbols();
    void choose_codes();
    void begin_lengths();
    [[nodiscard]] std::array<CostPair, symbols_max> costs() const noexcept;
    void improve_lengths();
    void write_bytes_used(BitWriter& writer) const;
    void write_selectors(BitWriter& writer) const;
    void write_lengths(BitWriter& writer) const;
    void write_symbols(BitWriter& writer) const;

    // The block, with its runs short.
    HugeArray<unsigned char> memory_;
    unsigned char* block_ = nullptr;
    std::size_t size_ = 0;
    std::size_t size_full_ = 0;
    unsigned run_byte_ = 256;  // of the run that may go on; 256: none
    std::size_t run_ = 0;

    RotationSort rotations_;
    std::array<bool, 256> used_{};
    std::size_t alphabet_ = 0;  // symbols: runs, places, and the end
    HugeArray<std::uint16_t> symbol_memory_;
    std::span<const std::uint16_t> symbols_;
    std::array<std::uint32_t, symbols_max> frequencies_{};

    std::size_t code_count_ = 0;
    std::array<CodeLengths, codes_max> lengths_{};
    std::array<Codes, codes_max> codes_{};
    std::vector<std::uint8_t> selectors_;  // the code of each group of symbols
};

}  // namespace strid::compress
