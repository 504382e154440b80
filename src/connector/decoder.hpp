// SPDX-License-Identifier: Apache-2.0
//
// Decompression between a RawInput and the reader of lines; private to the connector room.
// A decoder owns its library's state and one input buffer, and belongs to one ByteReader.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "raw_input.hpp"

namespace strid::detail {

class Decoder {
  public:
    virtual ~Decoder() = default;
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    /// Fills `out` as far as the input allows without waiting twice.
    ByteReader::Result read(RawInput& input, std::span<char> out, int wait_ms);

  protected:
    Decoder() : buffer_(buffer_bytes) {}

    struct Progress {
        std::size_t consumed;
        std::size_t produced;
    };
    /// Decodes from `in` to `out`; either may stay partly unused. Reports damage through `input`.
    virtual Progress decode(RawInput& input, std::span<const char> in, std::span<char> out) = 0;
    /// The input has ended: fails when that is inside a frame.
    virtual void check_complete(RawInput& input) = 0;

  private:
    static constexpr std::size_t buffer_bytes = std::size_t{128} << 10;

    std::vector<char> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    bool output_was_full_ = false;  // the library may hold decoded bytes back
};

std::unique_ptr<Decoder> make_gzip_decoder();
/// With the dictionary in a file; an empty path: none. Fails through `input`.
std::unique_ptr<Decoder> make_zstd_decoder(const RawInput& input, const std::string& dictionary);
std::unique_ptr<Decoder> make_xz_decoder();
std::unique_ptr<Decoder> make_bzip2_decoder();

}  // namespace strid::detail
