// SPDX-License-Identifier: Apache-2.0
//
// zstd (RFC 8878) through libzstd: any number of frames, skippable ones included.
#include <new>
#include <string>

#include <zstd.h>

#include <strid/base/error.hpp>

#include "decoder.hpp"

namespace strid::detail {

namespace {

class ZstdDecoder final : public Decoder {
  public:
    ZstdDecoder() : context_(::ZSTD_createDCtx()) {
        if (context_ == nullptr) throw std::bad_alloc();
    }
    ~ZstdDecoder() override { ::ZSTD_freeDCtx(context_); }

  private:
    Progress decode(RawInput& input, std::span<const char> in, std::span<char> out) override {
        ::ZSTD_inBuffer source{in.data(), in.size(), 0};
        ::ZSTD_outBuffer target{out.data(), out.size(), 0};
        const std::size_t result = ::ZSTD_decompressStream(context_, &target, &source);
        if (::ZSTD_isError(result) != 0) {
            input.fail(std::string("damaged zstd stream: ") + ::ZSTD_getErrorName(result));
        }
        // Without progress the answer is only a hint of the size, also between two frames.
        if (source.pos > 0 || target.pos > 0) inside_frame_ = result != 0;
        return {source.pos, target.pos};
    }

    void check_complete(RawInput& input) override {
        if (inside_frame_) input.fail("truncated zstd stream");
    }

    ::ZSTD_DCtx* context_;
    bool inside_frame_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_zstd_decoder() {
    return std::make_unique<ZstdDecoder>();
}

}  // namespace strid::detail
