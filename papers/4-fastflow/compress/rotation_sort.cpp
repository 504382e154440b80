// SPDX-License-Identifier: Apache-2.0
#include "rotation_sort.hpp"

#include <algorithm>
#include <new>

#include <divsufsort.h>

namespace strid::compress {

std::size_t least_rotation(std::span<const unsigned char> block) noexcept {
    const std::size_t size = block.size();
    const auto at = [&](std::size_t i) { return block[i < size ? i : i - size]; };
    std::size_t best = 0;
    std::size_t other = 1;
    std::size_t equal = 0;
    while (best < size && other < size && equal < size) {
        if (equal == 0) {  // most begin with a larger byte
            while (other < size && block[other] > block[best]) ++other;
            if (other == size) break;
        }
        const unsigned char one = at(best + equal);
        const unsigned char two = at(other + equal);
        if (one == two) {
            ++equal;
            continue;
        }
        // None of the rotations that begin within the equal bytes is the least one.
        (one > two ? best : other) += equal + 1;
        if (best == other) ++other;
        if (best > other) std::swap(best, other);
        equal = 0;
    }
    return std::min(best, other);
}

std::uint32_t RotationSort::sort(std::span<const unsigned char> block) {
    const std::size_t size = block.size();
    const std::size_t begin = least_rotation(block);
    unsigned char* const bytes = bytes_.room(size + 1);
    bytes[0] = block[begin == 0 ? size - 1 : begin - 1];
    std::ranges::copy(block.subspan(begin), bytes + 1);
    std::ranges::copy(block.first(begin), bytes + 1 + size - begin);
    std::int32_t* const suffixes = numbers_.room(size);
    if (::divsufsort(bytes + 1, suffixes, static_cast<std::int32_t>(size)) != 0) {
        throw std::bad_alloc();
    }
    before_ = bytes;
    suffixes_ = suffixes;
    const auto itself = static_cast<std::int32_t>(begin == 0 ? 0 : size - begin);
    return static_cast<std::uint32_t>(std::find(suffixes, suffixes + size, itself) - suffixes);
}

}  // namespace strid::compress
