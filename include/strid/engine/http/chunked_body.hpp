// SPDX-License-Identifier: Apache-2.0
//
// The chunks of a body (RFC 9112, section 7.1), which come in pieces of any size. One thread.
//
// Invariant: the data and the end of a body do not depend on how the text was cut into pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace strid::http {

class ChunkedBody {
  public:
    /// The most bytes of a line with the size of a chunk.
    static constexpr std::size_t size_line_bytes_max = 256;
    /// The most bytes of the headers behind the last chunk, which are passed over.
    static constexpr std::size_t trailer_bytes_max = 8192;

    enum class [[nodiscard]] State : std::uint8_t { goes_on, ended, malformed };

    /// Takes text off the front, up to the end of the body, and returns data that stood there;
    /// empty: all was taken, or the state is another one.
    [[nodiscard]] std::string_view take(std::string_view& text) noexcept;
    State state() const noexcept;

  private:
    enum class At : std::uint8_t {
        first_digit,
        digits,
        extension,
        size_end,  // a line feed
        data,
        data_return,
        data_end,
        trailer_begin,
        trailer,
        trailer_line_end,
        end,
        ended,
        malformed
    };
    [[nodiscard]] At behind(char c) noexcept;
    [[nodiscard]] At behind_size(char c) noexcept;
    [[nodiscard]] At behind_trailer(char c) noexcept;

    At at_ = At::first_digit;
    std::uint64_t left_ = 0;      // of the chunk
    std::size_t line_bytes_ = 0;  // of a line with a size; then of the trailer
};

}  // namespace strid::http
