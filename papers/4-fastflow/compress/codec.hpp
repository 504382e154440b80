// SPDX-License-Identifier: Apache-2.0
//
// Codes blocks: the sequential kernel of the program. Owns the memory of both directions. One
// thread; each worker has its own.
#pragma once

#include <cstdint>

#include "block.hpp"
#include "block_decoder.hpp"
#include "block_encoder.hpp"

namespace strid::compress {

class Codec {
  public:
    /// Bits that no block has: 900,000 symbols of 20 bits at the most, and its tables.
    static constexpr std::uint64_t block_bits_max = std::uint64_t{24} << 20;

    Codec() = default;
    Codec(const Codec&) = delete;
    Codec& operator=(const Codec&) = delete;

    /// Compresses or decompresses, by the direction of the block. Throws std::bad_alloc.
    void work(Block& block);

  private:
    BlockEncoder encoder_;
    BlockDecoder decoder_;
};

}  // namespace strid::compress
