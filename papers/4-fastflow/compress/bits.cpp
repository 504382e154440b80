// SPDX-License-Identifier: Apache-2.0
#include "bits.hpp"

#include <algorithm>

namespace strid::compress {

std::uint64_t bits_at(std::string_view bytes, std::uint64_t begin, unsigned count) noexcept {
    const std::uint64_t first = begin / 8;
    char padded[8] = {};
    if (first < bytes.size()) {
        const std::size_t there = std::min<std::size_t>(bytes.size() - first, sizeof padded);
        std::memcpy(padded, bytes.data() + first, there);
    }
    const auto offset = static_cast<unsigned>(begin % 8);
    return load_big_endian(padded) << offset >> (64 - count);
}

}  // namespace strid::compress
