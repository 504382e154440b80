// SPDX-License-Identifier: Apache-2.0
#include "block_decoder.hpp"

#include <algorithm>
#include <cstring>

#include "crc.hpp"
#include "move_to_front.hpp"
#include "random_steps.hpp"

namespace strid::compress {

namespace {

constexpr std::uint32_t run_symbols = 2;  // the first two count the bytes of a run

}  // namespace

BlockDecoder::Result BlockDecoder::decode(std::string_view bytes, std::uint64_t begin,
                                          std::uint64_t end, int level, Bytes& output) {
    BitReader reader(bytes, begin, end);
    size_max_ = static_cast<std::uint32_t>(level) * 100'000;
    output.set_size(0);
    const bool is_read = read_header(reader) && read_symbols(reader);
    if (reader.is_behind()) return {Decoded::cut_off};
    if (!is_read) return {Decoded::corrupt};
    invert();
    if (is_randomised_) undo_randomising();
    if (!undo_runs(output) || crc_of(output.view()) != crc_) {
        output.set_size(0);
        return {Decoded::corrupt};
    }
    return {Decoded::whole, reader.at()};
}

bool BlockDecoder::read_header(BitReader& reader) {
    const std::uint64_t high = reader.take(24);
    if ((high << 24 | reader.take(24)) != block_magic) return false;
    crc_ = reader.take(crc_bits);
    is_randomised_ = reader.take(1) != 0;
    origin_ = reader.take(24);
    return read_bytes_used(reader) && read_selectors(reader) && read_codes(reader);
}

bool BlockDecoder::read_bytes_used(BitReader& reader) {
    const std::uint32_t groups = reader.take(16);
    used_count_ = 0;
    for (unsigned group = 0; group < 16; ++group) {
        if ((groups >> (15 - group) & 1) == 0) continue;
        const std::uint32_t bytes = reader.take(16);
        for (unsigned i = 0; i < 16; ++i) {
            if ((bytes >> (15 - i) & 1) == 0) continue;
            used_[used_count_++] = static_cast<unsigned char>(16 * group + i);
        }
    }
    return used_count_ != 0;
}

/// Which code each group of symbols has. More than the largest block needs are read and ignored.
bool BlockDecoder::read_selectors(BitReader& reader) {
    code_count_ = reader.take(3);
    if (code_count_ < codes_min || code_count_ > codes_max) return false;
    const std::uint32_t count = reader.take(15);
    selector_count_ = std::min<std::size_t>(count, groups_max);
    MoveToFront list;
    for (std::size_t i = 0; i < codes_max; ++i) list.set(i, static_cast<unsigned char>(i));
    for (std::uint32_t i = 0; i < count; ++i) {
        std::size_t place = 0;
        while (reader.take(1) != 0) {
            if (++place >= code_count_) return false;
        }
        if (i < groups_max) selectors_[i] = list.take(place);
    }
    return count != 0;
}

bool BlockDecoder::read_codes(BitReader& reader) {
    CodeLengths lengths{};
    for (std::size_t code = 0; code < code_count_; ++code) {
        std::uint32_t length = reader.take(5);
        for (std::size_t i = 0; i < used_count_ + run_symbols; ++i) {
            while (true) {
                if (length < 1 || length > code_bits_max) return false;
                if (reader.take(1) == 0) break;
                length += reader.take(1) == 0 ? 1 : ~std::uint32_t{0};
            }
            lengths[i] = static_cast<std::uint8_t>(length);
        }
        codes_[code].set(std::span(lengths).first(used_count_ + run_symbols));
    }
    return true;
}

bool BlockDecoder::read_symbols(BitReader& reader) {
    constexpr std::uint32_t run_max = 2U << 20;
    unsigned char* const column = column_.room(size_max_);
    symbols_ = column;
    MoveToFront list;
    for (std::size_t i = 0; i < used_count_; ++i) list.set(i, used_[i]);
    counts_.fill(0);
    const auto end_symbol = static_cast<std::uint32_t>(used_count_ + 1);
    std::uint32_t size = 0;
    std::uint32_t run = 0;
    std::uint32_t run_step = 1;
    for (std::size_t group = 0; group < selector_count_; ++group) {
        const PrefixDecoder& code = codes_[selectors_[group]];
        for (std::size_t i = 0; i < group_symbols; ++i) {
            if (i % 2 == 0) reader.fill();
            const std::uint32_t symbol = code.take(reader);
            if (symbol < run_symbols) {
                if (run_step >= run_max) return false;
                run += run_step << symbol;
                run_step *= 2;
                continue;
            }
            if (run != 0) {
                if (run > size_max_ - size) return false;
                std::memset(column + size, list.front(), run);
                counts_[list.front()] += run;
                size += run;
                run = 0;
                run_step = 1;
            }
            if (symbol >= end_symbol) {
                size_ = size;
                return symbol == end_symbol && origin_ < size;
            }
            if (size >= size_max_) return false;
            const unsigned char byte = list.take(symbol - 1);
            ++counts_[byte];
            column[size++] = byte;
        }
        if (reader.is_behind()) return false;
    }
    return false;
}

/// The permutation, from the bytes of the last column and where each begins in the first one.
void BlockDecoder::make_steps() {
    std::uint32_t* const next = next_rows_.room(size_);
    std::array<std::uint32_t, 256> places{};
    std::uint32_t sum = 0;
    for (std::size_t byte = 0; byte < places.size(); ++byte) {
        places[byte] = sum;
        sum += counts_[byte];
    }
    for (std::uint32_t row = 0; row < size_; ++row) {
        const unsigned char byte = symbols_[row];
        next[places[byte]++] = row << 8 | byte;
    }
}

void BlockDecoder::invert() {
    make_steps();
    const std::uint32_t* const next = next_rows_.room(size_);
    unsigned char* const out = short_runs_.room(size_);
    std::uint32_t row = origin_;
    for (std::uint32_t i = 0; i < size_; ++i) {
        const std::uint32_t step = next[row];
        out[i] = static_cast<unsigned char>(step & 0xff);
        row = step >> 8;
    }
    symbols_ = out;
}

void BlockDecoder::undo_randomising() {
    std::size_t step = 0;
    // libbz2 counts the steps down, and flips a bit one byte before a step ends.
    std::uint64_t flipped = random_steps[0] - 2U;
    while (flipped < size_) {
        symbols_[flipped] ^= 1;
        step = (step + 1) % random_steps.size();
        flipped += random_steps[step];
    }
}

/// Four equal bytes are followed by how many more there are.
bool BlockDecoder::undo_runs(Bytes& output) const {
    constexpr std::size_t run_bytes_max = 255;
    const unsigned char* at = symbols_;
    const unsigned char* const end = symbols_ + size_;
    std::size_t size = 0;
    std::size_t room = size_ + run_bytes_max;
    output.reserve(room);
    char* out = output.data();
    unsigned equal = 1;
    unsigned before = 256;
    while (at != end) {
        const unsigned char byte = *at++;
        out[size++] = static_cast<char>(byte);
        equal = byte == before ? equal + 1 : 1;
        before = byte;
        if (equal < 4) continue;
        if (at == end) return false;
        const std::size_t more = *at++;
        // Behind the run, the rest of the block fits, and another run.
        const std::size_t needed = size + more + static_cast<std::size_t>(end - at) + run_bytes_max;
        if (needed > room) {
            output.set_size(size);
            room = 2 * needed;
            out = output.reserve(room);
        }
        std::memset(out + size, byte, more);
        size += more;
        before = 256;
    }
    output.set_size(size);
    return true;
}

}  // namespace strid::compress
