// SPDX-License-Identifier: Apache-2.0
#include "codec.hpp"

namespace strid::compress {

void Codec::work(Block& block) {
    if (block.direction == Direction::compress) {
        encoder_.encode(block.input.view(), block.level, block.output);
        return;
    }
    const std::uint64_t begin = block.bit_begin % 8;
    const std::uint64_t end = begin + (block.bit_end - block.bit_begin);
    const auto result = decoder_.decode(block.input.view(), begin, end, block.level, block.output);
    block.decoded = result.status;
    if (result.status == Decoded::whole) block.bit_end = block.bit_begin + result.bit_end - begin;
}

}  // namespace strid::compress
