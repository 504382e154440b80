// SPDX-License-Identifier: Apache-2.0
#include "block_encoder.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "crc.hpp"
#include "move_to_front.hpp"

namespace strid::compress {

namespace {

constexpr std::size_t long_run = 4;  // so many equal bytes are followed by how many more there are
constexpr std::size_t run_max = 255;
constexpr std::size_t spare_bytes = 19;  // libbz2 ends a block so much before its size
constexpr unsigned no_byte = 256;
constexpr std::size_t header_bytes_max = 64;

/// Adds a run, of no byte where it is none, and returns the size with it.
std::size_t with_run(unsigned char* block, std::size_t size, unsigned byte, std::size_t run) {
    const std::size_t bytes = std::min(run, long_run);
    std::memset(block + size, static_cast<int>(byte), bytes);
    size += bytes;
    if (run >= long_run) block[size++] = static_cast<unsigned char>(run - long_run);
    return size;
}

}  // namespace

void BlockEncoder::encode(std::string_view bytes, int level, Bytes& output) {
    const std::size_t level_bytes = static_cast<std::size_t>(level) * 100'000;
    size_full_ = level_bytes - spare_bytes;
    block_ = memory_.room(level_bytes);
    // The bound of libbz2, and room for a step of the writer.
    const std::size_t size_max = bytes.size() + bytes.size() / 100 + 600 + header_bytes_max;
    BitWriter writer(output.reserve(size_max));
    for (const char c : {'B', 'Z', 'h'}) writer.put(static_cast<unsigned char>(c), 8);
    writer.put(static_cast<unsigned>('0' + level), 8);
    run_byte_ = no_byte;
    run_ = 0;
    std::uint32_t stream_crc = 0;
    std::size_t begin = 0;  // of the bytes of the block
    for (std::size_t position = 0; position < bytes.size();) {
        if (fill_block(bytes, position)) end_run();
        const std::size_t end = position - run_;
        const std::uint32_t crc = crc_of(bytes.substr(begin, end - begin));
        begin = end;
        stream_crc = joined_crc(stream_crc, crc);
        write_block(writer, crc);
    }
    writer.put(end_magic, magic_bits);
    writer.put(stream_crc, crc_bits);
    output.set_size(writer.finish());
}

bool BlockEncoder::fill_block(std::string_view bytes, std::size_t& position) {
    // Copies, because a byte that is stored might be one of the members.
    unsigned char* const block = block_;
    std::size_t size = 0;
    std::size_t run = run_;
    unsigned run_byte = run_byte_;
    std::size_t at = position;
    for (; at < bytes.size() && size < size_full_; ++at) {
        const auto byte = static_cast<unsigned char>(bytes[at]);
        if (byte == run_byte && run < run_max) {
            ++run;
            continue;
        }
        if (run == 1) [[likely]] {
            block[size++] = static_cast<unsigned char>(run_byte);
        } else {
            size = with_run(block, size, run_byte, run);
        }
        run_byte = byte;
        run = 1;
    }
    position = at;
    size_ = size;
    run_ = run;
    run_byte_ = run_byte;
    return at == bytes.size();
}

void BlockEncoder::end_run() noexcept {
    size_ = with_run(block_, size_, run_byte_, run_);
    run_byte_ = no_byte;
    run_ = 0;
}

void BlockEncoder::write_block(BitWriter& writer, std::uint32_t crc) {
    const std::uint32_t origin = rotations_.sort({block_, size_});
    find_symbols();
    choose_codes();
    writer.put(block_magic, magic_bits);
    writer.put(crc, crc_bits);
    writer.put(0, 1);  // not randomised
    writer.put(origin, 24);
    write_bytes_used(writer);
    write_selectors(writer);
    write_lengths(writer);
    write_symbols(writer);
}

/// Places in the list of bytes, and the numbers of zeros between them in digits of 1 and 2.
void BlockEncoder::find_symbols() {
    used_.fill(false);
    for (std::size_t i = 0; i < size_; ++i) used_[block_[i]] = true;
    MoveToFront list;
    std::size_t used_count = 0;
    for (std::size_t byte = 0; byte < used_.size(); ++byte) {
        if (used_[byte]) list.set(used_count++, static_cast<unsigned char>(byte));
    }
    alphabet_ = used_count + 2;
    std::uint16_t* const symbols = symbol_memory_.room(size_ + 1);
    std::size_t count = 0;
    std::size_t zeros = 0;
    const auto add_zeros = [&] {
        for (; zeros != 0; zeros = (zeros - 1) / 2) {
            symbols[count++] = static_cast<std::uint16_t>((zeros - 1) % 2);
        }
    };
    for (std::size_t row = 0; row < size_; ++row) {
        const unsigned char byte = rotations_.last_byte(row);
        if (byte == list.front()) {
            ++zeros;
            continue;
        }
        add_zeros();
        symbols[count++] = static_cast<std::uint16_t>(list.find(byte) + 1);
    }
    add_zeros();
    symbols[count++] = static_cast<std::uint16_t>(used_count + 1);
    symbols_ = {symbols, count};
    frequencies_.fill(0);
    for (const std::uint16_t symbol : symbols_) ++frequencies_[symbol];
}

/// As BZ2_compressBlock() does: codes for ranges of symbols, made better four times by what the
/// groups that choose them have.
void BlockEncoder::choose_codes() {
    constexpr std::array<std::size_t, 4> symbols_of_codes = {200, 600, 1'200, 2'400};
    constexpr int rounds = 4;
    code_count_ =
        2 + static_cast<std::size_t>(std::ranges::count_if(
                symbols_of_codes, [this](std::size_t c) { return symbols_.size() >= c; }));
    begin_lengths();
    for (int round = 0; round < rounds; ++round) improve_lengths();
    for (std::size_t code = 0; code < code_count_; ++code) {
        assign_codes(std::span(lengths_[code]).first(alphabet_), codes_[code]);
    }
}

void BlockEncoder::begin_lengths() {
    constexpr std::uint8_t long_code = 15;
    std::size_t left = symbols_.size();
    std::size_t begin = 0;
    for (std::size_t part = code_count_; part > 0; --part) {
        const std::size_t wanted = left / part;
        std::size_t end = begin;  // behind the last symbol of the range
        std::size_t there = 0;
        while (there < wanted && end < alphabet_) there += frequencies_[end++];
        const bool is_inner = part != code_count_ && part != 1;
        if (end > begin + 1 && is_inner && (code_count_ - part) % 2 == 1) {
            there -= frequencies_[--end];
        }
        lengths_[part - 1].fill(long_code);
        std::fill(lengths_[part - 1].begin() + static_cast<std::ptrdiff_t>(begin),
                  lengths_[part - 1].begin() + static_cast<std::ptrdiff_t>(end), std::uint8_t{0});
        begin = end;
        left -= there;
    }
}

/// The lengths of a symbol in all codes, 16 bits each: they are added at once.
std::array<BlockEncoder::CostPair, symbols_max> BlockEncoder::costs() const noexcept {
    std::array<CostPair, symbols_max> costs{};
    for (std::size_t symbol = 0; symbol < alphabet_; ++symbol) {
        for (std::size_t code = 0; code < code_count_; ++code) {
            costs[symbol][code / 4] |= std::uint64_t{lengths_[code][symbol]} << 16 * (code % 4);
        }
    }
    return costs;
}

void BlockEncoder::improve_lengths() {
    const auto costs = this->costs();
    std::array<std::array<std::uint32_t, symbols_max>, codes_max> frequencies{};
    selectors_.clear();
    for (std::size_t begin = 0; begin < symbols_.size(); begin += group_symbols) {
        const std::size_t end = std::min(begin + group_symbols, symbols_.size());
        CostPair sums{};
        for (std::size_t i = begin; i < end; ++i) {
            sums[0] += costs[symbols_[i]][0];
            sums[1] += costs[symbols_[i]][1];
        }
        std::size_t best = 0;
        std::uint64_t best_cost = ~std::uint64_t{0};
        for (std::size_t code = 0; code < code_count_; ++code) {
            const std::uint64_t cost = sums[code / 4] >> 16 * (code % 4) & 0xffff;
            if (cost >= best_cost) continue;
            best = code;
            best_cost = cost;
        }
        selectors_.push_back(static_cast<std::uint8_t>(best));
        for (std::size_t i = begin; i < end; ++i) ++frequencies[best][symbols_[i]];
    }
    for (std::size_t code = 0; code < code_count_; ++code) {
        make_code_lengths(std::span(frequencies[code]).first(alphabet_), lengths_[code]);
    }
}

void BlockEncoder::write_bytes_used(BitWriter& writer) const {
    const auto bits_of = [this](std::size_t group) {
        unsigned bits = 0;
        for (std::size_t i = 0; i < 16; ++i) bits = bits << 1 | (used_[16 * group + i] ? 1 : 0);
        return bits;
    };
    unsigned groups = 0;
    for (std::size_t group = 0; group < 16; ++group) {
        groups = groups << 1 | (bits_of(group) != 0 ? 1 : 0);
    }
    writer.put(groups, 16);
    for (std::size_t group = 0; group < 16; ++group) {
        if (bits_of(group) != 0) writer.put(bits_of(group), 16);
    }
}

void BlockEncoder::write_selectors(BitWriter& writer) const {
    writer.put(code_count_, 3);
    writer.put(selectors_.size(), 15);
    MoveToFront list;
    for (std::size_t i = 0; i < codes_max; ++i) list.set(i, static_cast<unsigned char>(i));
    for (const std::uint8_t selector : selectors_) {
        const std::size_t place = list.find(selector);
        writer.put((std::uint64_t{1} << (place + 1)) - 2, static_cast<unsigned>(place + 1));
    }
}

void BlockEncoder::write_lengths(BitWriter& writer) const {
    for (std::size_t code = 0; code < code_count_; ++code) {
        unsigned length = lengths_[code][0];
        writer.put(length, 5);
        for (std::size_t i = 0; i < alphabet_; ++i) {
            for (; length < lengths_[code][i]; ++length) writer.put(2, 2);
            for (; length > lengths_[code][i]; --length) writer.put(3, 2);
            writer.put(0, 1);
        }
    }
}

void BlockEncoder::write_symbols(BitWriter& writer) const {
    for (std::size_t begin = 0; begin < symbols_.size(); begin += group_symbols) {
        const std::size_t end = std::min(begin + group_symbols, symbols_.size());
        const std::size_t code = selectors_[begin / group_symbols];
        for (std::size_t i = begin; i < end; ++i) {
            writer.put(codes_[code][symbols_[i]], lengths_[code][symbols_[i]]);
        }
    }
}

}  // namespace strid::compress
