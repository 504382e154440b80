// SPDX-License-Identifier: Apache-2.0
//
// Reads bits one behind the other, the highest of a byte first. Those behind the end are zeros;
// is_behind() shows it, so that it need not be asked for each bit. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bits.hpp"

namespace strid::compress {

class BitReader {
  public:
    /// Bits that are there after fill().
    static constexpr unsigned filled_bits = 56;

    /// Bits [begin, end) of `bytes`.
    BitReader(std::string_view bytes, std::uint64_t begin, std::uint64_t end) noexcept
        : bytes_(bytes), end_(end), next_byte_(static_cast<std::size_t>(begin / 8)) {
        fill();
        skip(static_cast<unsigned>(begin % 8));
    }

    void fill() noexcept {
        if (next_byte_ + 8 <= bytes_.size()) [[likely]] {
            pending_ |= load_big_endian(bytes_.data() + next_byte_) >> pending_bits_;
            next_byte_ += (63 - pending_bits_) / 8;
            pending_bits_ |= 56;
            return;
        }
        while (pending_bits_ <= filled_bits) {
            const std::uint64_t byte =
                next_byte_ < bytes_.size() ? static_cast<unsigned char>(bytes_[next_byte_]) : 0;
            pending_ |= byte << (56 - pending_bits_);
            ++next_byte_;
            pending_bits_ += 8;
        }
    }
    /// The next ones, 1 to 32; fill() was called since `filled_bits` were skipped at the most.
    [[nodiscard]] std::uint32_t peek(unsigned count) const noexcept {
        return static_cast<std::uint32_t>(pending_ >> (64 - count));
    }
    void skip(unsigned count) noexcept {
        pending_ <<= count;
        pending_bits_ -= count;
    }
    [[nodiscard]] std::uint32_t take(unsigned count) noexcept {
        fill();
        const std::uint32_t bits = peek(count);
        skip(count);
        return bits;
    }

    /// The bit of `bytes` that comes next.
    [[nodiscard]] std::uint64_t at() const noexcept {
        return std::uint64_t{next_byte_} * 8 - pending_bits_;
    }
    /// More bits were skipped than there are.
    [[nodiscard]] bool is_behind() const noexcept { return at() > end_; }

  private:
    std::string_view bytes_;
    std::uint64_t end_;
    std::size_t next_byte_;
    std::uint64_t pending_ = 0;  // from the highest bit on
    unsigned pending_bits_ = 0;
};

}  // namespace strid::compress
