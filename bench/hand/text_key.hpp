// SPDX-License-Identifier: Apache-2.0
//
// Hash and equality for short text keys, for the tables of the hand-written applications.
// Stateless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace strid::bench::hand {

/// Reads a text in pieces of eight bytes that may overlap: most keys take two loads and two
/// products.
struct TextHash {
    using is_avalanching = void;

    std::size_t operator()(std::string_view text) const noexcept {
        const char* bytes = text.data();
        std::size_t left = text.size();
        std::uint64_t hash = 0x9e3779b97f4a7c15ULL ^ left;
        for (; left > 16; left -= 8, bytes += 8) hash = mix(hash ^ load<8>(bytes));
        if (left >= 8) return mix(mix(hash ^ load<8>(bytes)) ^ load<8>(bytes + left - 8));
        if (left >= 4) return mix(hash ^ (load<4>(bytes) << 32 | load<4>(bytes + left - 4)));
        if (left == 0) return mix(hash);
        const auto at = [bytes](std::size_t i) {
            return static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i]));
        };
        return mix(hash ^ (at(0) << 16 | at(left / 2) << 8 | at(left - 1)));
    }

  private:
    template <std::size_t Size>
    static std::uint64_t load(const char* bytes) noexcept {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes, Size);
        return value;
    }
    static std::uint64_t mix(std::uint64_t value) noexcept {
        __extension__ using Wide = unsigned __int128;
        const Wide product = static_cast<Wide>(value) * 0xa0761d6478bd642fULL;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }
};

/// Compares in the same pieces, without a call to memcmp.
struct TextEqual {
    bool operator()(std::string_view a, std::string_view b) const noexcept {
        if (a.size() != b.size()) return false;
        const char* x = a.data();
        const char* y = b.data();
        std::size_t left = a.size();
        if (left >= 8) {
            for (; left > 8; left -= 8, x += 8, y += 8) {
                if (differ<8>(x, y)) return false;
            }
            return !differ<8>(x + left - 8, y + left - 8);
        }
        if (left >= 4) return !differ<4>(x, y) && !differ<4>(x + left - 4, y + left - 4);
        for (std::size_t i = 0; i < left; ++i) {
            if (x[i] != y[i]) return false;
        }
        return true;
    }

  private:
    template <std::size_t Size>
    static bool differ(const char* x, const char* y) noexcept {
        return std::memcmp(x, y, Size) != 0;  // a constant size becomes one comparison
    }
};

}  // namespace strid::bench::hand
