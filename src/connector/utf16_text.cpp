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

/// A character of a text in ASCII.
bool is_plain(char c) noexcept {
    return (c >= ' ' && c <= '~') || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

Encoding encoding_of(std::string_view begin, bool is_all) noexcept {
    using namespace std::string_view_literals;
    constexpr std::size_t looked_at = 4;
    const bool is_short = begin.size() < looked_at && !is_all;
    if (begin.empty()) return is_all ? Encoding::bytes : Encoding::unknown;
    if (begin.starts_with("\xFF\xFE"sv)) {
        if (begin.size() == 2 && is_short) return Encoding::unknown;
        if (begin.size() == 3 && begin[2] == '\0' && is_short) return Encoding::unknown;
        return begin.substr(2) == "\0\0"sv ? Encoding::utf32 : Encoding::utf16_little;
    }
    if (begin.starts_with("\xFE\xFF"sv)) return Encoding::utf16_big;
    if (begin == "\xFF"sv || begin == "\xFE"sv) {
        return is_all ? Encoding::bytes : Encoding::unknown;
    }
    const bool has_zero = begin.size() > 1 && (begin[0] == '\0') != (begin[1] == '\0');
    if (has_zero && is_short) return Encoding::unknown;
    if (begin.size() < looked_at) return Encoding::bytes;
    if (begin == "\0\0\xFE\xFF"sv) return Encoding::utf32;
    if (is_plain(begin[0]) && begin.substr(1) == "\0\0\0"sv) {
        return Encoding::utf32_little_unmarked;
    }
    if (begin.starts_with("\0\0\0"sv) && is_plain(begin[3])) return Encoding::utf32_big_unmarked;
    if (is_plain(begin[0]) && begin[1] == '\0' && is_plain(begin[2]) && begin[3] == '\0') {
        return Encoding::utf16_little_unmarked;
    }
    if (begin[0] == '\0' && is_plain(begin[1]) && begin[2] == '\0' && is_plain(begin[3])) {
        return Encoding::utf16_big_unmarked;
    }
    return Encoding::bytes;
}

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
