// SPDX-License-Identifier: Apache-2.0
//
// A text in UTF-16, as spreadsheets and PowerShell write it, in UTF-8: between what reads and
// decompresses bytes and what reads lines. Through the C library's iconv. Owned by one ByteReader,
// private to the connector room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "raw_input.hpp"

namespace strid::detail {

class Utf16Text {
  public:
    using Source = std::function<ByteReader::Result(std::span<char> out, int wait_ms)>;

    /// Of what is behind the byte order mark. Fails through `input` where iconv knows no UTF-16.
    Utf16Text(const RawInput& input, bool is_big_endian);
    ~Utf16Text();
    Utf16Text(const Utf16Text&) = delete;
    Utf16Text& operator=(const Utf16Text&) = delete;

    ByteReader::Result read(const RawInput& input, const Source& source, std::span<char> out,
                            int wait_ms);

  private:
    void convert(const RawInput& input);

    void* converter_;
    std::vector<char> in_;
    std::size_t in_bytes_ = 0;  // from the begin on; at most half a character is left over
    std::uint64_t passed_bytes_ = 2;
    std::vector<char> out_;
    std::size_t out_begin_ = 0;
    std::size_t out_end_ = 0;
};

}  // namespace strid::detail
