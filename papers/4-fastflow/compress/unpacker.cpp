// SPDX-License-Identifier: Apache-2.0
#include "unpacker.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bits.hpp"
#include "crc.hpp"

namespace strid::compress {

namespace {

constexpr std::size_t read_bytes = std::size_t{256} << 10;
// So far ahead of position_ a file is read at most: the largest block that can be, which shows that
// there is no mark behind the one at position_, and usual ones for the others that may be inside.
constexpr std::uint64_t block_bytes_max = Codec::block_bits_max / 8;
constexpr std::uint64_t block_bytes_usual = 1'000'000;
constexpr unsigned header_bits = 32;
constexpr std::string_view signature = "BZh";

/// 1 to 9; 0: this is no header of a stream. Of a text that is too short, as far as it goes.
int level_of_header(std::string_view header) noexcept {
    const std::size_t compared = std::min(header.size(), signature.size());
    if (header.substr(0, compared) != signature.substr(0, compared)) return 0;
    if (header.size() <= signature.size()) return 9;
    const char level = header[signature.size()];
    return level >= '1' && level <= '9' ? level - '0' : 0;
}

constexpr std::uint64_t next_byte(std::uint64_t bit) noexcept {
    return (bit + 7) / 8;
}

}  // namespace

bool Unpacker::run() {
    Start start = begin_stream();
    if (start == Start::nothing) fail_at_end();
    if (start == Start::garbage) return false;
    while (start == Start::stream) {
        decode_stream();
        start = begin_stream();
    }
    if (start == Start::garbage) garbage_ = position_ / 8;
    line_.discard_all();
    return true;
}

void Unpacker::copy_through() {
    output_.write(window_.bytes());
    while (!input_.ended()) {
        char* const bytes = window_.room(read_bytes);
        output_.write({bytes, input_.read(bytes, read_bytes)});
        on_progress_(input_.bytes_read());
    }
}

// At the first byte of the file, or behind a stream.
Unpacker::Start Unpacker::begin_stream() {
    read_until(position_ + header_bits);
    const std::uint64_t byte = position_ / 8;
    const std::string_view header = window_.part(byte, byte + header_bits / 8);
    if (header.empty()) return Start::nothing;
    const int level = level_of_header(header);
    if (level == 0) return Start::garbage;
    if (header.size() < header_bits / 8) fail_at_end();
    level_ = level;
    combined_crc_ = 0;
    position_ += header_bits;
    return Start::stream;
}

void Unpacker::decode_stream() {
    while (true) {
        read_until(position_ + magic_bits);
        const std::uint64_t magic = bits_at(position_, magic_bits);
        if (position_ + magic_bits > window_.end() * 8) fail_at_end();
        if (magic == end_magic) return end_stream();
        if (magic != block_magic) fail_at(position_, "neither a block nor the end of a stream");
        decode_block();
        on_progress_(position_ / 8);
    }
}

void Unpacker::end_stream() {
    read_until(position_ + magic_bits + crc_bits);
    const std::uint64_t end = position_ + magic_bits + crc_bits;
    if (end > window_.end() * 8) fail_at_end();
    if (bits_at(position_ + magic_bits, crc_bits) != combined_crc_) {
        fail_at(position_, "the CRC of the stream that ends here is wrong");
    }
    position_ = next_byte(end) * 8;
    drop_what_is_done();
}

void Unpacker::decode_block() {
    input_.check_interrupted();
    BlockPointer block = piece_at_position();
    if (block->level != level_ || block->decoded == Decoded::cut_off) {
        level_ahead_ = level_;
        line_.recycle(std::move(block));
        block = decode_over_marks();
    }
    if (block->decoded == Decoded::corrupt) {
        fail_at(position_, "the block that begins here is corrupt");
    }
    output_.write(block->output.view());
    const auto crc = static_cast<std::uint32_t>(bits_at(position_ + magic_bits, crc_bits));
    combined_crc_ = joined_crc(combined_crc_, crc);
    position_ = block->bit_end;
    line_.recycle(std::move(block));
    drop_what_is_done();
}

// The scanner has found every true mark, so that the one at position_ is among them.
BlockPointer Unpacker::piece_at_position() {
    while (true) {
        hand_out();
        if (line_.is_empty()) {
            // Nothing was known of what comes behind the block.
            read_more();
            continue;
        }
        BlockPointer block = line_.result();
        if (block->bit_begin == position_) return block;
        line_.recycle(std::move(block));  // a false mark inside of what was decoded
    }
}

BlockPointer Unpacker::decode_over_marks() {
    const std::uint64_t most = position_ + Codec::block_bits_max;
    read_until(most);
    const std::uint64_t end = std::min(most, window_.end() * 8);
    BlockPointer block = line_.fresh();
    fill(*block, position_, end, level_);
    line_.codec().work(*block);
    if (block->decoded == Decoded::cut_off) {
        if (end < most) fail_at_end();
        block->decoded = Decoded::corrupt;
    }
    return block;
}

void Unpacker::drop_what_is_done() {
    while (!marks_.empty() && marks_.front().bit < position_) {
        marks_.pop_front();
        if (handed_out_ != 0) --handed_out_;
    }
    const std::uint64_t needed = position_ / 8;
    const std::uint64_t seen = window_.end() - std::min(window_.end(), MarkScanner::overlap_bytes);
    window_.drop_before(std::min(needed, seen));
}

// ---- what lies ahead -------------------------------------------------------------------------

void Unpacker::read_more() {
    if (input_.ended()) return;
    const std::size_t size = read_size();
    window_.added(input_.read(window_.room(size), size));
    scanner_.scan(window_.bytes(), window_.begin(), input_.ended(), marks_);
}

/// A small file takes no more memory than it has bytes.
std::size_t Unpacker::read_size() const {
    const struct stat& file = input_.status();
    const auto size = S_ISREG(file.st_mode) ? static_cast<std::uint64_t>(file.st_size) : 0;
    if (size <= window_.end()) return size == 0 ? read_bytes : read_bytes / 64;
    return std::min<std::uint64_t>(read_bytes, size - window_.end());
}

void Unpacker::read_until(std::uint64_t bit) {
    while (!input_.ended() && window_.end() * 8 < bit) read_more();
}

/// As many pieces as may be inside; reads ahead for them, but not while a result is there and
/// reading might wait.
void Unpacker::hand_out() {
    const std::uint64_t ahead_max = 2 * block_bytes_max + line_.blocks_max() * block_bytes_usual;
    while (!line_.is_full()) {
        if (hand_out_next()) continue;
        if (input_.ended() || window_.end() - position_ / 8 > ahead_max) return;
        if (line_.has_result() && !S_ISREG(input_.status().st_mode)) return;
        read_more();
    }
}

/// False where it has to be known first what lies ahead.
bool Unpacker::hand_out_next() {
    while (handed_out_ < marks_.size() && marks_[handed_out_].ends_stream) ++handed_out_;
    if (handed_out_ >= marks_.size()) return false;
    const std::optional<std::uint64_t> end = end_of_piece(handed_out_);
    if (!end) return false;
    const Mark& mark = marks_[handed_out_++];
    level_ahead_ = level_of(mark);
    BlockPointer block = line_.fresh();
    fill(*block, mark.bit, *end, level_ahead_);
    line_.offload(std::move(block));
    return true;
}

std::optional<std::uint64_t> Unpacker::end_of_piece(std::size_t mark) const {
    const std::uint64_t most = marks_[mark].bit + Codec::block_bits_max;
    if (mark + 1 < marks_.size()) return std::min(marks_[mark + 1].bit, most);
    const std::uint64_t there = window_.end() * 8;
    if (there >= most) return most;
    return input_.ended() ? std::optional(there) : std::nullopt;
}

/// That of the header before it, or else as before. Only a guess where marks are false.
int Unpacker::level_of(const Mark& mark) const {
    if (mark.bit % 8 != 0 || mark.bit < header_bits) return level_ahead_;
    const std::uint64_t byte = mark.bit / 8;
    const std::string_view header = window_.part(byte - header_bits / 8, byte);
    const int level = header.size() == header_bits / 8 ? level_of_header(header) : 0;
    return level == 0 ? level_ahead_ : level;
}

std::uint64_t Unpacker::bits_at(std::uint64_t bit, unsigned count) const {
    return compress::bits_at(window_.part(bit / 8, bit / 8 + 8), bit % 8, count);
}

void Unpacker::fill(Block& block, std::uint64_t begin, std::uint64_t end, int level) const {
    block.direction = Direction::decompress;
    block.level = level;
    block.bit_begin = begin;
    block.bit_end = end;
    block.input.set_size(0);
    block.input.append(window_.part(begin / 8, next_byte(end)));
}

void Unpacker::fail_at(std::uint64_t bit, std::string_view what) const {
    throw CorruptError(fmt::format("{}: byte {}: {}", input_.name(), bit / 8, what));
}

void Unpacker::fail_at_end() const {
    throw CorruptError(
        fmt::format("{}: byte {}: the file ends inside a stream", input_.name(), window_.end()));
}

}  // namespace strid::compress
