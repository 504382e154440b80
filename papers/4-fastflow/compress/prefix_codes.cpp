// SPDX-License-Identifier: Apache-2.0
#include "prefix_codes.hpp"

#include <algorithm>

namespace strid::compress {

namespace {

constexpr unsigned written_bits_max = 17;

/// The heap of BZ2_hbMakeCodeLengths(), whose order of equal weights decides about the bits of the
/// file. A weight is a frequency, and in its lowest byte the depth of what is below.
class CodeTree {
  public:
    explicit CodeTree(std::span<const std::uint32_t> frequencies) : leaves_(frequencies.size()) {
        for (std::size_t i = 0; i < leaves_; ++i) {
            weights_[i + 1] = std::max(frequencies[i], 1U) << 8;
        }
    }

    /// False where one is longer than `written_bits_max`.
    bool make(CodeLengths& lengths) {
        join_all();
        bool fits = true;
        for (std::size_t i = 1; i <= leaves_; ++i) {
            unsigned length = 0;
            for (std::size_t node = i; parents_[node] != 0; node = parents_[node]) ++length;
            lengths[i - 1] = static_cast<std::uint8_t>(length);
            fits = fits && length <= written_bits_max;
        }
        return fits;
    }
    void flatten() {
        for (std::size_t i = 1; i <= leaves_; ++i) {
            weights_[i] = (1 + (weights_[i] >> 8) / 2) << 8;
        }
    }

  private:
    void join_all() {
        size_ = 0;
        std::size_t nodes = leaves_;
        parents_.fill(0);
        for (std::size_t i = 1; i <= leaves_; ++i) push(i);
        while (size_ > 1) {
            const std::size_t one = pop();
            const std::size_t other = pop();
            ++nodes;
            parents_[one] = parents_[other] = static_cast<std::uint16_t>(nodes);
            const std::uint32_t depth = 1 + std::max(weights_[one] & 0xff, weights_[other] & 0xff);
            weights_[nodes] = ((weights_[one] & ~0xffU) + (weights_[other] & ~0xffU)) | depth;
            push(nodes);
        }
    }
    void push(std::size_t node) {
        std::size_t at = ++size_;
        for (; weights_[node] < weights_[heap_[at / 2]]; at /= 2) heap_[at] = heap_[at / 2];
        heap_[at] = static_cast<std::uint16_t>(node);
    }
    std::size_t pop() {
        const std::size_t top = heap_[1];
        const std::uint16_t moved = heap_[size_--];
        std::size_t at = 1;
        while (2 * at <= size_) {
            std::size_t below = 2 * at;
            if (below < size_ && weights_[heap_[below + 1]] < weights_[heap_[below]]) ++below;
            if (weights_[moved] < weights_[heap_[below]]) break;
            heap_[at] = heap_[below];
            at = below;
        }
        heap_[at] = moved;
        return top;
    }

    std::size_t leaves_;
    std::size_t size_ = 0;
    // Node 0 is above the top of the heap and has no weight.
    std::array<std::uint32_t, 2 * symbols_max> weights_{};
    std::array<std::uint16_t, 2 * symbols_max> parents_{};
    std::array<std::uint16_t, symbols_max + 2> heap_{};
};

}  // namespace

void make_code_lengths(std::span<const std::uint32_t> frequencies, CodeLengths& lengths) {
    CodeTree tree(frequencies);
    while (!tree.make(lengths)) tree.flatten();
}

void assign_codes(std::span<const std::uint8_t> lengths, Codes& codes) {
    const auto [least, most] = std::ranges::minmax(lengths);
    std::uint32_t code = 0;
    for (unsigned length = least; length <= most; ++length, code <<= 1) {
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            if (lengths[i] == length) codes[i] = code++;
        }
    }
}

void PrefixDecoder::set(std::span<const std::uint8_t> lengths) noexcept {
    const auto [least, most] = std::ranges::minmax(lengths);
    bits_min_ = least;
    symbol_count_ = 0;
    largest_.fill(-1);
    std::int64_t code = 0;
    for (unsigned length = least; length <= most; ++length) {
        const std::size_t before = symbol_count_;
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            if (lengths[i] == length) symbols_[symbol_count_++] = static_cast<std::uint16_t>(i);
        }
        first_[length] = code - static_cast<std::int64_t>(before);
        code += static_cast<std::int64_t>(symbol_count_ - before);
        largest_[length] = code - 1;
        code <<= 1;
    }
    for (std::uint32_t bits = 0; bits < short_codes_.size(); ++bits) {
        const Found found = find(bits << (code_bits_max - short_bits), short_bits);
        const bool is_short = found.symbol != no_symbol;
        short_codes_[bits] =
            static_cast<std::uint16_t>(is_short ? found.symbol << 5 | found.bits : 0);
    }
}

PrefixDecoder::Found PrefixDecoder::find(std::uint32_t bits, unsigned most) const noexcept {
    for (unsigned length = bits_min_; length <= most; ++length) {
        const std::int64_t code = bits >> (code_bits_max - length);
        if (code > largest_[length]) continue;
        const std::int64_t place = code - first_[length];
        if (place < 0 || place >= static_cast<std::int64_t>(symbol_count_)) break;
        return {symbols_[static_cast<std::size_t>(place)], length};
    }
    return {no_symbol, 0};
}

std::uint32_t PrefixDecoder::take_long(BitReader& reader) const noexcept {
    const Found found = find(reader.peek(code_bits_max), code_bits_max);
    reader.skip(found.symbol == no_symbol ? code_bits_max : found.bits);
    return found.symbol;
}

}  // namespace strid::compress
