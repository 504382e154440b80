// SPDX-License-Identifier: Apache-2.0
//
// The part of a file that is still needed, by the numbers that its bytes have in the file. One
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "block.hpp"

namespace strid::compress {

class ByteWindow {
  public:
    /// The bytes that are there, and the number of the first and of the one behind the last.
    [[nodiscard]] std::string_view bytes() const noexcept { return bytes_.view().substr(begin_); }
    [[nodiscard]] std::uint64_t begin() const noexcept { return base_ + begin_; }
    [[nodiscard]] std::uint64_t end() const noexcept { return base_ + bytes_.size(); }
    /// From byte `begin` on, up to `end` or the end of what is there.
    [[nodiscard]] std::string_view part(std::uint64_t begin, std::uint64_t end) const noexcept {
        const std::uint64_t there = std::min(std::max(begin, base_), this->end());
        const std::uint64_t last = std::min(std::max(end, there), this->end());
        return bytes_.view().substr(static_cast<std::size_t>(there - base_),
                                    static_cast<std::size_t>(last - there));
    }

    /// Room for `size` bytes behind the last; added() says how many of them count.
    [[nodiscard]] char* room(std::size_t size) {
        return bytes_.reserve(bytes_.size() + size) + bytes_.size();
    }
    void added(std::size_t size) noexcept { bytes_.set_size(bytes_.size() + size); }

    /// Those before byte `begin` are not needed any more. Each byte is moved once on the average.
    void drop_before(std::uint64_t begin) noexcept {
        if (begin <= this->begin()) return;
        begin_ = static_cast<std::size_t>(std::min(begin, end()) - base_);
        if (begin_ < bytes_.size() / 2) return;
        std::copy(bytes_.data() + begin_, bytes_.data() + bytes_.size(), bytes_.data());
        bytes_.set_size(bytes_.size() - begin_);
        base_ += begin_;
        begin_ = 0;
    }

  private:
    Bytes bytes_;
    std::size_t begin_ = 0;   // of what is needed, in bytes_
    std::uint64_t base_ = 0;  // of the first of bytes_, in the file
};

}  // namespace strid::compress
