// SPDX-License-Identifier: Apache-2.0
#include "crc.hpp"

#include <array>
#include <cstddef>

#include "bits.hpp"

namespace strid::compress {

namespace {

constexpr std::size_t crc_step = 8;
using CrcTables = std::array<std::array<std::uint32_t, 256>, crc_step>;

/// The first is that of one byte; the next ones have so many zeros behind it.
constexpr CrcTables crc_tables = [] {
    constexpr std::uint32_t polynomial = 0x04c1'1db7;
    CrcTables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte << 24;
        for (int bit = 0; bit < 8; ++bit) crc = crc << 1 ^ (crc >> 31 != 0 ? polynomial : 0);
        tables[0][byte] = crc;
    }
    for (std::size_t zeros = 1; zeros < crc_step; ++zeros) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t crc = tables[zeros - 1][byte];
            tables[zeros][byte] = crc << 8 ^ tables[0][crc >> 24];
        }
    }
    return tables;
}();

}  // namespace

std::uint32_t crc_of(std::string_view bytes) noexcept {
    std::uint32_t crc = 0xffff'ffff;
    for (; bytes.size() >= crc_step; bytes.remove_prefix(crc_step)) {
        const std::uint64_t word = load_big_endian(bytes.data()) ^ std::uint64_t{crc} << 32;
        crc = 0;
        for (std::size_t i = 0; i < crc_step; ++i) crc ^= crc_tables[i][word >> 8 * i & 0xff];
    }
    for (const char byte : bytes) {
        crc = crc << 8 ^ crc_tables[0][crc >> 24 ^ static_cast<unsigned char>(byte)];
    }
    return ~crc;
}

}  // namespace strid::compress
