// SPDX-License-Identifier: Apache-2.0
//
// gzip (RFC 1952) through zlib: any number of members one after the other, as `cat a.gz b.gz`
// makes them, and the zeros that tapes pad with.
#include <algorithm>
#include <new>
#include <string>

#include <zlib.h>

#include <strid/base/error.hpp>

#include "decoder.hpp"

namespace strid::detail {

namespace {

class GzipDecoder final : public Decoder {
  public:
    GzipDecoder() {
        constexpr int window_of_gzip = 15 + 16;
        if (::inflateInit2(&stream_, window_of_gzip) != Z_OK) throw std::bad_alloc();
    }
    ~GzipDecoder() override { ::inflateEnd(&stream_); }

  private:
    Progress decode(RawInput& input, std::span<const char> in, std::span<char> out) override {
        std::size_t skipped = 0;
        if (between_members_) {
            if (members_ > 0) {
                while (skipped < in.size() && in[skipped] == 0) ++skipped;
            }
            if (skipped == in.size()) return {skipped, 0};
            if (::inflateReset(&stream_) != Z_OK) input.fail("damaged gzip stream");
            between_members_ = false;
        }
        // zlib's interface is not const-correct; it does not write through next_in.
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data() + skipped));
        stream_.avail_in = static_cast<uInt>(in.size() - skipped);
        stream_.next_out = reinterpret_cast<Bytef*>(out.data());
        const auto room = static_cast<uInt>(std::min<std::size_t>(out.size(), 1U << 30));
        stream_.avail_out = room;
        const int result = ::inflate(&stream_, Z_NO_FLUSH);
        if (result == Z_STREAM_END) {
            between_members_ = true;
            ++members_;
        } else if (result == Z_MEM_ERROR) {
            throw std::bad_alloc();
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            const std::string detail = stream_.msg != nullptr ? stream_.msg : "unknown";
            input.fail(members_ > 0 && detail == "incorrect header check"
                           ? "other bytes follow the gzip stream"
                           : "damaged gzip stream: " + detail);
        }
        return {in.size() - stream_.avail_in, room - stream_.avail_out};
    }

    void check_complete(RawInput& input) override {
        if (!between_members_) input.fail("truncated gzip stream");
    }

    z_stream stream_{};
    std::size_t members_ = 0;
    bool between_members_ = true;
};

}  // namespace

std::unique_ptr<Decoder> make_gzip_decoder() {
    return std::make_unique<GzipDecoder>();
}

}  // namespace strid::detail
