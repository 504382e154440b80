// SPDX-License-Identifier: Apache-2.0
#include "utf16_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <iconv.h>

namespace strid::detail {

namespace {

constexpr std::size_t in_bytes_max = std::size_t{32} << 10;
const auto no_converter = reinterpret_cast<::iconv_t>(-1);

}  // namespace

// Two bytes become three at most, four become four.
Utf16Text::Utf16Text(const RawInput& input, bool is_big_endian)
    : converter_(::iconv_open("UTF-8", is_big_endian ? "UTF-16BE" : "UTF-16LE")),
      in_(in_bytes_max),
      out_(in_bytes_max / 2 * 3) {
    if (converter_ == no_converter) {
        input.fail(
            "text in UTF-16, which the C library cannot convert here: iconv -f UTF-16 -t "
            "UTF-8 elsewhere makes it readable");
    }
}

Utf16Text::~Utf16Text() {
    if (converter_ != no_converter) ::iconv_close(converter_);
}

ByteReader::Result Utf16Text::read(const RawInput& input, const Source& source, std::span<char> out,
                                   int wait_ms) {
    while (out_begin_ == out_end_) {
        const auto got = source(std::span(in_).subspan(in_bytes_), wait_ms);
        if (got.status == ByteReader::Status::end && in_bytes_ != 0) {
            input.fail("truncated text in UTF-16: it ends inside a character");
        }
        if (got.status != ByteReader::Status::read) return got;
        in_bytes_ += got.bytes;
        convert(input);
    }
    const std::size_t bytes = std::min(out.size(), out_end_ - out_begin_);
    std::memcpy(out.data(), out_.data() + out_begin_, bytes);
    out_begin_ += bytes;
    return {ByteReader::Status::read, bytes};
}

void Utf16Text::convert(const RawInput& input) {
    char* from = in_.data();
    std::size_t left = in_bytes_;
    char* to = out_.data();
    std::size_t room = out_.size();
    const std::size_t result = ::iconv(converter_, &from, &left, &to, &room);
    passed_bytes_ += in_bytes_ - left;
    if (result == static_cast<std::size_t>(-1) && errno != EINVAL) {
        input.fail(fmt::format("damaged text in UTF-16: half of a surrogate pair at byte {}",
                               passed_bytes_ + 1));
    }
    std::memmove(in_.data(), from, left);
    in_bytes_ = left;
    out_begin_ = 0;
    out_end_ = out_.size() - room;
}

}  // namespace strid::detail
