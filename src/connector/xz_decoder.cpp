// SPDX-License-Identifier: Apache-2.0
//
// xz through liblzma: any number of streams, as `cat a.xz b.xz` makes them, and the zeros between
// and behind them that the format allows.
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include <lzma.h>

#include "decoder.hpp"

namespace strid::detail {

namespace {

/// xz -9 asks for 65 MiB; a file can ask for 4 GiB.
constexpr std::uint64_t memory_bytes_max = std::uint64_t{256} << 20;

class XzDecoder final : public Decoder {
  public:
    XzDecoder() {
        if (::lzma_stream_decoder(&stream_, memory_bytes_max, LZMA_CONCATENATED) != LZMA_OK) {
            throw std::bad_alloc();
        }
    }
    ~XzDecoder() override { ::lzma_end(&stream_); }

  private:
    Progress decode(RawInput& input, std::span<const char> in, std::span<char> out) override {
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
        stream_.avail_in = in.size();
        stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
        stream_.avail_out = out.size();
        require(input, ::lzma_code(&stream_, LZMA_RUN));
        return {in.size() - stream_.avail_in, out.size() - stream_.avail_out};
    }

    // Only here does liblzma learn that no stream follows.
    void check_complete(RawInput& input) override {
        std::uint8_t nothing = 0;
        stream_.next_in = nullptr;
        stream_.avail_in = 0;
        stream_.next_out = &nothing;
        stream_.avail_out = 1;
        const ::lzma_ret result = ::lzma_code(&stream_, LZMA_FINISH);
        require(input, result);
        if (result != LZMA_STREAM_END) input.fail("truncated xz stream");
    }

    static void require(const RawInput& input, ::lzma_ret result) {
        switch (result) {
            case LZMA_OK:
            case LZMA_STREAM_END:
            case LZMA_BUF_ERROR:  // no progress: there is no input
                return;
            case LZMA_MEM_ERROR:
                throw std::bad_alloc();
            case LZMA_MEMLIMIT_ERROR:
                input.fail("to decompress this xz stream takes more than 256 MiB of memory; " +
                           std::string("xz -dc reads it into a pipe"));
            case LZMA_OPTIONS_ERROR:
                input.fail("damaged xz stream, or one with filters that liblzma does not know");
            default:
                input.fail("damaged xz stream, or other bytes behind its end");
        }
    }

    ::lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace

std::unique_ptr<Decoder> make_xz_decoder() {
    return std::make_unique<XzDecoder>();
}

}  // namespace strid::detail
