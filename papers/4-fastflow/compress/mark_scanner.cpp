// SPDX-License-Identifier: Apache-2.0
#include "mark_scanner.hpp"

#include <algorithm>
#include <array>
#include <bitset>

#include "bits.hpp"

namespace strid::compress {

namespace {

constexpr std::size_t stride = 4;
constexpr std::size_t pairs = std::size_t{1} << 16;

/// Which pairs of bytes stand inside a mark: whole bytes 1 and 2 to 4 and 5 of it, counted from the
/// byte that it begins in.
const std::bitset<pairs>& pairs_of_marks() {
    static const std::bitset<pairs> table = [] {
        std::bitset<pairs> made;
        for (const std::uint64_t magic : {block_magic, end_magic}) {
            for (unsigned shift = 0; shift < 8; ++shift) {
                for (unsigned byte = 1; byte <= stride; ++byte) {
                    // The pair begins at bit 8 * byte - shift of the 48.
                    const unsigned behind = magic_bits - (8 * byte - shift) - 16;
                    if (8 * byte - shift + 16 <= magic_bits) made.set(magic >> behind & 0xffff);
                }
            }
        }
        return made;
    }();
    return table;
}

}  // namespace

void MarkScanner::look(std::string_view bytes, std::uint64_t base, std::size_t pair,
                       std::deque<Mark>& marks) const {
    for (std::size_t before = std::min(stride, pair); before >= 1; --before) {
        const std::size_t first = pair - before;
        for (unsigned shift = 0; shift < 8; ++shift) {
            const std::uint64_t at = std::uint64_t{first} * 8 + shift;
            if (at + magic_bits > std::uint64_t{bytes.size()} * 8) continue;
            const std::uint64_t bits = bits_at(bytes, at, magic_bits);
            if (bits != block_magic && bits != end_magic) continue;
            marks.push_back({base * 8 + at, bits == end_magic});
        }
    }
}

void MarkScanner::scan(std::string_view bytes, std::uint64_t base, bool last,
                       std::deque<Mark>& marks) {
    const std::bitset<pairs>& table = pairs_of_marks();
    // A mark ends 6 bytes behind its first at the most, and a pair is 1 behind it at the least.
    const std::size_t behind = last ? 2 : 8;
    if (bytes.size() < behind) return;
    const std::size_t end = bytes.size() - behind + 1;
    std::size_t at = next_pair_ > base ? static_cast<std::size_t>(next_pair_ - base) : 0;
    for (; at < end; at += stride) {
        const auto high = static_cast<unsigned char>(bytes[at]);
        const auto low = static_cast<unsigned char>(bytes[at + 1]);
        if (table[std::size_t{high} << 8 | low]) look(bytes, base, at, marks);
    }
    next_pair_ = base + at;
}

}  // namespace strid::compress
