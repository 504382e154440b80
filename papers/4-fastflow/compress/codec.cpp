// SPDX-License-Identifier: Apache-2.0
#include "codec.hpp"

#include <algorithm>
#include <new>

#include <strid/base/error.hpp>

#include "bits.hpp"

namespace strid::compress {

namespace {

void* allocate(void* arena, int count, int size) {
    return static_cast<Arena*>(arena)->allocate(static_cast<std::size_t>(count) *
                                                static_cast<std::size_t>(size));
}

void release(void* arena, void* piece) {
    static_cast<Arena*>(arena)->release(piece);
}

/// Ends the stream however it is left.
template <int (*end)(bz_stream*)>
class Ended {
  public:
    explicit Ended(bz_stream& stream) noexcept : stream_(stream) {}
    ~Ended() { end(&stream_); }
    Ended(const Ended&) = delete;
    Ended& operator=(const Ended&) = delete;

  private:
    bz_stream& stream_;
};

void check_begun(int status) {
    if (status == BZ_MEM_ERROR) throw std::bad_alloc();
    if (status != BZ_OK) throw Error("libbz2 cannot begin a stream");
}

void put_header(BitWriter& writer, int level) noexcept {
    writer.put('B', 8);
    writer.put('Z', 8);
    writer.put('h', 8);
    writer.put(static_cast<unsigned>('0' + level), 8);
}

// Header, end and the last byte of a stream of one block.
constexpr std::size_t stream_bytes = 32;

}  // namespace

bz_stream Codec::stream() noexcept {
    bz_stream made{};
    made.bzalloc = allocate;
    made.bzfree = release;
    made.opaque = &arena_;
    return made;
}

void Codec::work(Block& block) {
    if (block.direction == Direction::compress) {
        compress(block);
    } else {
        decompress(block);
    }
}

void Codec::compress(Block& block) {
    const std::size_t size = block.input.size();
    const std::size_t size_max = size + size / 100 + 600;  // the bound of libbz2
    bz_stream stream = this->stream();
    check_begun(BZ2_bzCompressInit(&stream, block.level, 0, 0));
    const Ended<BZ2_bzCompressEnd> ended(stream);
    stream.next_in = block.input.data();
    stream.avail_in = static_cast<unsigned>(size);
    stream.next_out = block.output.reserve(size_max);
    stream.avail_out = static_cast<unsigned>(size_max);
    if (BZ2_bzCompress(&stream, BZ_FINISH) != BZ_STREAM_END) {
        throw Error("libbz2 does not end a stream");
    }
    block.output.set_size(size_max - stream.avail_out);
}

void Codec::decompress(Block& block) {
    const std::uint64_t begin = block.bit_begin % 8;
    const std::uint64_t end = begin + (block.bit_end - block.bit_begin);
    block.output.set_size(0);
    block.decoded = false;
    if (end - begin < magic_bits + crc_bits) return;
    const std::string_view bytes = block.input.view();
    BitWriter writer(scratch_.reserve(bytes.size() + stream_bytes));
    put_header(writer, block.level);
    writer.copy(bytes, begin, end);
    writer.put(end_magic, magic_bits);
    writer.put(bits_at(bytes, begin + magic_bits, crc_bits), crc_bits);
    scratch_.set_size(writer.finish());
    block.decoded = decode_scratch(block);
}

bool Codec::decode_scratch(Block& block) {
    bz_stream stream = this->stream();
    check_begun(BZ2_bzDecompressInit(&stream, 0, 0));
    const Ended<BZ2_bzDecompressEnd> ended(stream);
    stream.next_in = scratch_.data();
    stream.avail_in = static_cast<unsigned>(scratch_.size());
    const std::size_t usual = static_cast<std::size_t>(block.level) * 100'000 + 4096;
    std::size_t size = 0;
    while (true) {
        // A block of runs is up to 52 times as large.
        const std::size_t room = std::max(size == 0 ? usual : size * 2, block.output.capacity());
        block.output.set_size(size);
        stream.next_out = block.output.reserve(room) + size;
        stream.avail_out = static_cast<unsigned>(room - size);
        const int status = BZ2_bzDecompress(&stream);
        if (status == BZ_MEM_ERROR) throw std::bad_alloc();
        if (status != BZ_OK && status != BZ_STREAM_END) return false;
        size = room - stream.avail_out;
        if (status == BZ_STREAM_END) break;
        if (stream.avail_out != 0) return false;  // the bits end before the block does
    }
    block.output.set_size(size);
    return stream.avail_in == 0;
}

std::optional<Codec::BlockEnd> Codec::find_block_end(std::string_view bytes, std::uint64_t begin,
                                                     int level) {
    constexpr std::uint64_t header_bits = 32;
    const std::uint64_t end =
        std::min(std::uint64_t{bytes.size()} * 8, begin + block_bits_max + magic_bits);
    BitWriter writer(scratch_.reserve((end - begin) / 8 + stream_bytes));
    put_header(writer, level);
    writer.copy(bytes, begin, end);
    scratch_.set_size(writer.finish());
    bz_stream stream = this->stream();
    check_begun(BZ2_bzDecompressInit(&stream, 0, 0));
    const Ended<BZ2_bzDecompressEnd> ended(stream);
    // The first byte of output comes when the block has been read to its end.
    char first = 0;
    stream.next_in = scratch_.data();
    stream.next_out = &first;
    stream.avail_out = 1;
    for (std::uint64_t fed = 1; fed <= scratch_.size(); ++fed) {
        stream.avail_in = 1;
        const int status = BZ2_bzDecompress(&stream);
        if (status == BZ_MEM_ERROR) throw std::bad_alloc();
        if (status != BZ_OK) return std::nullopt;
        if (stream.avail_out == 0) return BlockEnd{Ending::found, begin + fed * 8 - header_bits};
    }
    return BlockEnd{Ending::not_there};
}

}  // namespace strid::compress
