// SPDX-License-Identifier: Apache-2.0
//
// The list of bytes in which the one that was used last stands first. Eight places are a word, so
// that what stands in front moves by shifts. A value; one thread.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace strid::compress {

class MoveToFront {
  public:
    void set(std::size_t place, unsigned char byte) noexcept {
        std::uint64_t& word = words_[place / 8];
        const unsigned shift = 8 * (place % 8);
        word = (word & ~(std::uint64_t{0xff} << shift)) | std::uint64_t{byte} << shift;
    }
    [[nodiscard]] unsigned char front() const noexcept {
        return static_cast<unsigned char>(words_[0] & 0xff);
    }

    /// The byte at `place`, which then is the first.
    unsigned char take(std::size_t place) noexcept {
        const std::uint64_t byte = words_[place / 8] >> 8 * (place % 8) & 0xff;
        move(place / 8, place % 8, byte);
        return static_cast<unsigned char>(byte);
    }
    /// The place of `byte`, which is in the list, and then is the first.
    std::size_t find(unsigned char byte) noexcept {
        constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
        for (std::size_t word = 0;; ++word) {
            const std::uint64_t differs = words_[word] ^ byte * ones;
            // The lowest bit that is set is that of the first byte that is zero.
            const std::uint64_t zeros = (differs - ones) & ~differs & ones << 7;
            if (zeros == 0) continue;
            const auto place = static_cast<std::size_t>(std::countr_zero(zeros)) / 8;
            move(word, place, byte);
            return 8 * word + place;
        }
    }

  private:
    void move(std::size_t word, std::size_t place, std::uint64_t first) noexcept {
        for (std::size_t i = 0; i < word; ++i) {
            const std::uint64_t last = words_[i] >> 56;
            words_[i] = words_[i] << 8 | first;
            first = last;
        }
        const std::uint64_t moved = ~std::uint64_t{0} >> (56 - 8 * place);
        words_[word] = (words_[word] & ~moved) | (words_[word] << 8 & moved) | first;
    }

    std::array<std::uint64_t, 32> words_{};
};

}  // namespace strid::compress
