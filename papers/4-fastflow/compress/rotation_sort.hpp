// SPDX-License-Identifier: Apache-2.0
//
// The Burrows-Wheeler transform of bzip2, which sorts the rotations of a block, by libdivsufsort,
// which sorts suffixes. The two orders are the same for a block that begins with its least rotation
// (a power of a Lyndon word): where one suffix is the begin of another one, the bytes that follow
// it as a rotation are the least that there can be. So that rotation is sorted, and the block
// itself is found among its suffixes. One thread; it keeps its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "huge_array.hpp"

namespace strid::compress {

class RotationSort {
  public:
    /// Sorts the rotations of `block`, which is not empty, and returns where the block itself
    /// stands among them. Throws std::bad_alloc.
    std::uint32_t sort(std::span<const unsigned char> block);
    /// The last byte of the rotation at `row`, after sort().
    [[nodiscard]] unsigned char last_byte(std::size_t row) const noexcept {
        return before_[suffixes_[row]];
    }

  private:
    HugeArray<unsigned char> bytes_;
    HugeArray<std::int32_t> numbers_;
    const unsigned char* before_ = nullptr;  // the least rotation behind its last byte
    const std::int32_t* suffixes_ = nullptr;
};

/// Where the least rotation of `block` begins: linear.
[[nodiscard]] std::size_t least_rotation(std::span<const unsigned char> block) noexcept;

}  // namespace strid::compress
