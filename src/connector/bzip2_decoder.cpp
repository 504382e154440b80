// SPDX-License-Identifier: Apache-2.0
//
// bzip2 through libbz2: any number of streams, as `cat a.bz2 b.bz2` and pbzip2 make them.
#include <algorithm>
#include <memory>
#include <new>

#include <bzlib.h>

#include "decoder.hpp"

namespace strid::detail {

namespace {

class Bzip2Decoder final : public Decoder {
  public:
    Bzip2Decoder() { begin_stream(); }
    ~Bzip2Decoder() override { ::BZ2_bzDecompressEnd(&stream_); }

  private:
    Progress decode(RawInput& input, std::span<const char> in, std::span<char> out) override {
        if (in.empty() && between_streams_) return {0, 0};
        if (between_streams_ && streams_ > 0) {
            ::BZ2_bzDecompressEnd(&stream_);
            begin_stream();
        }
        between_streams_ = false;
        stream_.next_in = const_cast<char*>(in.data());  // is not written through
        stream_.avail_in = static_cast<unsigned>(in.size());
        stream_.next_out = out.data();
        const auto room = static_cast<unsigned>(std::min<std::size_t>(out.size(), 1U << 30));
        stream_.avail_out = room;
        const int result = ::BZ2_bzDecompress(&stream_);
        if (result == BZ_STREAM_END) {
            between_streams_ = true;
            ++streams_;
        } else if (result == BZ_MEM_ERROR) {
            throw std::bad_alloc();
        } else if (result != BZ_OK) {
            input.fail(result == BZ_DATA_ERROR_MAGIC && streams_ > 0
                           ? "other bytes follow the bzip2 stream"
                           : "damaged bzip2 stream");
        }
        return {in.size() - stream_.avail_in, room - stream_.avail_out};
    }

    void check_complete(RawInput& input) override {
        if (!between_streams_) input.fail("truncated bzip2 stream");
    }

    void begin_stream() {
        stream_ = {};
        if (::BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
    }

    ::bz_stream stream_{};
    std::size_t streams_ = 0;
    bool between_streams_ = true;
};

}  // namespace

std::unique_ptr<Decoder> make_bzip2_decoder() {
    return std::make_unique<Bzip2Decoder>();
}

}  // namespace strid::detail
