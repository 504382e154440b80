// SPDX-License-Identifier: Apache-2.0
//
// Codes blocks by libbz2: the sequential kernel of the program. Owns the memory that libbz2 works
// in. One thread; each worker has its own.
//
// A block out of the middle of a bzip2 file is decoded as a stream of its own: a header, the bits
// of the block moved to where they belong, and an end whose CRC is that of the only block. libbz2
// checks the CRC of the block, and that the block ends with its last bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <bzlib.h>

#include "arena.hpp"
#include "block.hpp"

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

    enum class Ending : std::uint8_t {
        found,     ///< the block ends in the bits before `end_bit`, of the same byte
        not_there  ///< the bits end before the block does
    };
    struct BlockEnd {
        Ending ending;
        std::uint64_t bit =
            0;  ///< the block ends here at the latest, 7 bits before at the earliest
    };
    /// Where the block ends that begins at bit `begin` of `bytes`; none where it is no block. For
    /// blocks that a mark inside them has cut into pieces: slow. Throws std::bad_alloc.
    [[nodiscard]] std::optional<BlockEnd> find_block_end(std::string_view bytes,
                                                         std::uint64_t begin, int level);

  private:
    void compress(Block& block);
    void decompress(Block& block);
    [[nodiscard]] bool decode_scratch(Block& block);
    [[nodiscard]] bz_stream stream() noexcept;

    Arena arena_;
    Bytes scratch_;  // a block as a stream
};

}  // namespace strid::compress
