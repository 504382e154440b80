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

void BitWriter::put(std::uint64_t value, unsigned count) noexcept {
    const std::uint64_t mask = (std::uint64_t{1} << count) - 1;
    pending_ = pending_ << count | (value & mask);
    pending_bits_ += count;
    while (pending_bits_ >= 8) {
        pending_bits_ -= 8;
        out_[size_++] = static_cast<char>(pending_ >> pending_bits_);
    }
}

void BitWriter::copy(std::string_view bytes, std::uint64_t begin, std::uint64_t end) noexcept {
    constexpr unsigned step_bits = 32;
    // Steps of four whole bytes of output, as long as eight bytes can be loaded.
    while (begin + step_bits <= end && begin / 8 + 8 <= bytes.size()) {
        const std::uint64_t word = load_big_endian(bytes.data() + begin / 8) << begin % 8 >> 32;
        const std::uint64_t joined = pending_ << step_bits | word;
        const auto whole = static_cast<std::uint32_t>(joined >> pending_bits_);
        const std::uint32_t stored = __builtin_bswap32(whole);
        std::memcpy(out_ + size_, &stored, sizeof stored);
        size_ += sizeof stored;
        pending_ = word;  // its lowest bits are those that are left
        begin += step_bits;
    }
    while (begin < end) {
        const auto count = static_cast<unsigned>(std::min<std::uint64_t>(end - begin, step_bits));
        put(bits_at(bytes, begin, count), count);
        begin += count;
    }
}

std::size_t BitWriter::finish() noexcept {
    if (pending_bits_ != 0) put(0, 8 - pending_bits_);
    return size_;
}

}  // namespace strid::compress
