// SPDX-License-Identifier: Apache-2.0
//
// The CRC of blocks and streams: 32 bits, the highest first (polynomial 0x04c11db7), which zlib and
// the processor have only the other way round. Functions without state; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace strid::compress {

/// Eight bytes a step, by eight tables.
[[nodiscard]] std::uint32_t crc_of(std::string_view bytes) noexcept;

/// Of a stream, from that of its blocks before and that of the next one.
[[nodiscard]] constexpr std::uint32_t joined_crc(std::uint32_t stream,
                                                 std::uint32_t block) noexcept {
    return (stream << 1 | stream >> 31) ^ block;
}

}  // namespace strid::compress
