// SPDX-License-Identifier: Apache-2.0
//
// Bits of a bzip2 file, in which everything behind the header of a stream stands at any bit, the
// highest of a byte first. Functions without state, and a writer of one buffer; any thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace strid::compress {

inline constexpr std::uint64_t block_magic = 0x314159265359;
inline constexpr std::uint64_t end_magic = 0x177245385090;
inline constexpr unsigned magic_bits = 48;
inline constexpr unsigned crc_bits = 32;

/// The eight bytes at `at` as a number, the first the highest.
[[nodiscard]] inline std::uint64_t load_big_endian(const char* at) noexcept {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return __builtin_bswap64(word);
}

/// `count` bits, 1 to 56, from bit `begin` of `bytes` on; what lies behind its end is zeros.
[[nodiscard]] std::uint64_t bits_at(std::string_view bytes, std::uint64_t begin,
                                    unsigned count) noexcept;

/// Writes bits one behind the other, from the beginning of `out` on, and up to eight bytes behind
/// them.
class BitWriter {
  public:
    explicit BitWriter(char* out) noexcept : out_(out) {}

    /// The lowest `count` bits of `value`, 1 to 56; the others are zeros.
    void put(std::uint64_t value, unsigned count) noexcept {
        pending_bits_ += count;
        pending_ |= value << (64 - pending_bits_);
        const std::uint64_t stored = __builtin_bswap64(pending_);
        std::memcpy(out_ + size_, &stored, sizeof stored);
        const unsigned whole = pending_bits_ / 8;
        size_ += whole;
        pending_bits_ %= 8;
        pending_ <<= 8 * whole;
    }
    /// Fills the last byte with zeros; how many bytes were written.
    [[nodiscard]] std::size_t finish() const noexcept {
        return size_ + (pending_bits_ != 0 ? 1 : 0);
    }

  private:
    char* const out_;
    std::size_t size_ = 0;
    std::uint64_t pending_ = 0;  // from the highest bit on
    unsigned pending_bits_ = 0;  // fewer than 8 between calls
};

}  // namespace strid::compress
