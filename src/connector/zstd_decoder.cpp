// SPDX-License-Identifier: Apache-2.0
//
// zstd (RFC 8878) through libzstd: any number of frames, skippable ones included.
#include <memory>
#include <new>
#include <span>
#include <string>

#include <zstd.h>
#include <zstd_errors.h>

#include <strid/base/error.hpp>

#include "decoder.hpp"

namespace strid::detail {

namespace {

class ZstdDecoder final : public Decoder {
  public:
    ZstdDecoder(const RawInput& input, const std::string& dictionary)
        : context_(::ZSTD_createDCtx()) {
        if (!context_) throw std::bad_alloc();
        // The largest window that there is: 2 GiB, of which only what the text fills is touched.
        ::ZSTD_DCtx_setParameter(context_.get(), ::ZSTD_d_windowLogMax, window_log_max);
        if (!dictionary.empty()) load(input, dictionary);
    }

  private:
    static constexpr int window_log_max = sizeof(std::size_t) == 8 ? 31 : 30;

    struct Free {
        void operator()(::ZSTD_DCtx* context) const noexcept { ::ZSTD_freeDCtx(context); }
    };

    void load(const RawInput& input, const std::string& dictionary) {
        constexpr std::size_t bytes_max = std::size_t{128} << 20;
        std::string content(std::size_t{1} << 20, '\0');
        std::size_t bytes = 0;
        ByteReader file(dictionary);
        for (;;) {
            const auto got = file.read(std::span(content).subspan(bytes), 0);
            if (got.status != ByteReader::Status::read) break;
            bytes += got.bytes;
            if (bytes > bytes_max) {
                input.fail(dictionary + " is no dictionary of zstd: it is larger than 128 MiB");
            }
            if (bytes == content.size()) content.resize(2 * bytes);
        }
        const std::size_t result =
            ::ZSTD_DCtx_loadDictionary(context_.get(), content.data(), bytes);
        if (::ZSTD_isError(result) != 0) {
            input.fail("the zstd dictionary " + dictionary + ": " + ::ZSTD_getErrorName(result));
        }
    }

    static std::string reason_of(std::size_t result) {
        switch (::ZSTD_getErrorCode(result)) {
            case ::ZSTD_error_dictionary_wrong:
            case ::ZSTD_error_dictionary_corrupted:
                return "it was compressed with another dictionary, or with one at all: "
                       "TextOptions::zstd_dictionary (strid window: --zstd-dictionary) names it";
            case ::ZSTD_error_frameParameter_windowTooLarge:
            case ::ZSTD_error_memory_allocation:
                return "its window needs more memory than there is (zstd -d --long=31 | ... reads "
                       "it on a larger machine)";
            default:
                return std::string(
                           "damaged zstd stream, or one with a dictionary "
                           "(TextOptions::zstd_dictionary): ") +
                       ::ZSTD_getErrorName(result);
        }
    }

    Progress decode(RawInput& input, std::span<const char> in, std::span<char> out) override {
        ::ZSTD_inBuffer source{in.data(), in.size(), 0};
        ::ZSTD_outBuffer target{out.data(), out.size(), 0};
        const std::size_t result = ::ZSTD_decompressStream(context_.get(), &target, &source);
        if (::ZSTD_isError(result) != 0) {
            input.fail(reason_of(result));
        }
        // Without progress the answer is only a hint of the size, also between two frames.
        if (source.pos > 0 || target.pos > 0) inside_frame_ = result != 0;
        return {source.pos, target.pos};
    }

    void check_complete(RawInput& input) override {
        if (inside_frame_) input.fail("truncated zstd stream");
    }

    std::unique_ptr<::ZSTD_DCtx, Free> context_;
    bool inside_frame_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_zstd_decoder(const RawInput& input, const std::string& dictionary) {
    return std::make_unique<ZstdDecoder>(input, dictionary);
}

}  // namespace strid::detail
