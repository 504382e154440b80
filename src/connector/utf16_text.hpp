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
#include <string_view>
#include <vector>

#include "raw_input.hpp"

namespace strid::detail {

/// How a text begins. Without a mark it is told by zeros beside characters of ASCII.
enum class Encoding : std::uint8_t {
    unknown,  ///< more bytes decide
    bytes,    ///< UTF-8, or one that has ASCII in it
    utf16_little,
    utf16_big,
    utf16_little_unmarked,
    utf16_big_unmarked,
    utf32,
    utf32_little_unmarked,
    utf32_big_unmarked
};
/// Of the first bytes, up to four; `is_all`: there are no more.
[[nodiscard]] Encoding encoding_of(std::string_view begin, bool is_all) noexcept;

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
