// SPDX-License-Identifier: Apache-2.0
//
// One task of the block accelerator: bytes to be coded and what became of them. To compress, a
// block is a part of a file; to decompress, it is the bits from one mark of the file to the next.
//
// A block belongs to one thread at a time; it is handed on by its pointer and used again when it is
// done, so that a stream of any length is worked on in a bounded number of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace strid::compress {

/// Bytes whose memory is kept when they are replaced, and not cleared.
class Bytes {
  public:
    /// Room for `size` bytes in all; those that count stay.
    char* reserve(std::size_t size) {
        if (size <= capacity_) return memory_.get();
        const std::size_t capacity = std::max(size, capacity_ + capacity_ / 2);
        auto larger = std::make_unique_for_overwrite<char[]>(capacity);
        std::copy_n(memory_.get(), size_, larger.get());
        memory_ = std::move(larger);
        capacity_ = capacity;
        return memory_.get();
    }
    /// So many bytes of those for which there is room count.
    void set_size(std::size_t size) noexcept { size_ = size; }
    [[nodiscard]] char* data() noexcept { return memory_.get(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::string_view view() const noexcept { return {memory_.get(), size_}; }
    void append(std::string_view text) {
        text.copy(reserve(size_ + text.size()) + size_, text.size());
        size_ += text.size();
    }
    /// No byte counts any more; memory is given back where it is more than `most`.
    void trim(std::size_t most) {
        size_ = 0;
        if (capacity_ <= most) return;
        memory_.reset();
        capacity_ = 0;
    }

  private:
    std::unique_ptr<char[]> memory_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

enum class Direction : std::uint8_t { compress, decompress };

/// The state of the bits of a block.
enum class [[nodiscard]] Decoded : std::uint8_t {
    whole,  ///< they begin with a whole block, and its CRC is right
    corrupt,
    cut_off  ///< they end before the block does
};

struct Block {
    Direction direction = Direction::compress;
    int level = 9;  ///< hundreds of kilobytes that a block of its stream has at most
    Bytes input;
    Bytes output;

    // To decompress: the block is bits [bit_begin, bit_end) of the file; the first of them is bit
    // `bit_begin % 8`, from the highest on, of the first byte of `input`.
    std::uint64_t bit_begin = 0;
    std::uint64_t bit_end = 0;
    Decoded decoded = Decoded::corrupt;  ///< `whole`: then `bit_end` is where the block ends
};
using BlockPointer = std::unique_ptr<Block>;

/// Bytes of a file that become one stream: they fill the only block of it, so that no short second
/// block is left over (bzip2 begins one 19 bytes before the size that its level names).
[[nodiscard]] constexpr std::size_t block_bytes(int level) noexcept {
    return static_cast<std::size_t>(level) * 100'000 - 20;
}

}  // namespace strid::compress
