// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <strid/engine/http/chunked_body.hpp>

namespace strid::http {

namespace {

constexpr int no_digit = 16;

int hexadecimal_digit(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return no_digit;
}

bool is_of_a_line(char c) noexcept {
    return c == '\t' || static_cast<unsigned char>(c) >= ' ';
}

}  // namespace

ChunkedBody::State ChunkedBody::state() const noexcept {
    if (at_ == At::malformed) return State::malformed;
    return at_ == At::ended ? State::ended : State::goes_on;
}

std::string_view ChunkedBody::take(std::string_view& text) noexcept {
    while (!text.empty() && at_ != At::ended && at_ != At::malformed) {
        if (at_ == At::data) {
            const auto bytes = std::min<std::uint64_t>(left_, text.size());
            const std::string_view data = text.substr(0, bytes);
            text.remove_prefix(bytes);
            left_ -= bytes;
            if (left_ == 0) at_ = At::data_return;
            return data;
        }
        at_ = behind(text.front());
        text.remove_prefix(1);
    }
    return {};
}

ChunkedBody::At ChunkedBody::behind(char c) noexcept {
    switch (at_) {
        case At::first_digit:
        case At::digits:
        case At::extension:
            return behind_size(c);
        case At::size_end:
            line_bytes_ = 0;
            if (c != '\n') return At::malformed;
            return left_ == 0 ? At::trailer_begin : At::data;
        case At::data_return:
            return c == '\r' ? At::data_end : At::malformed;
        case At::data_end:
            return c == '\n' ? At::first_digit : At::malformed;
        case At::end:
            return c == '\n' ? At::ended : At::malformed;
        default:
            return behind_trailer(c);
    }
}

ChunkedBody::At ChunkedBody::behind_size(char c) noexcept {
    if (++line_bytes_ > size_line_bytes_max) return At::malformed;
    if (at_ != At::extension) {
        if (const int digit = hexadecimal_digit(c); digit != no_digit) {
            constexpr unsigned high_digit = 60;
            if (left_ >> high_digit != 0) return At::malformed;
            left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
            return At::digits;
        }
        const bool is_begun = at_ == At::digits && (c == ';' || c == ' ' || c == '\t');
        if (is_begun) return At::extension;
        if (at_ == At::first_digit) return At::malformed;
    }
    if (c == '\r') return At::size_end;
    return at_ == At::extension && is_of_a_line(c) ? At::extension : At::malformed;
}

ChunkedBody::At ChunkedBody::behind_trailer(char c) noexcept {
    if (++line_bytes_ > trailer_bytes_max) return At::malformed;
    if (at_ == At::trailer_line_end) return c == '\n' ? At::trailer_begin : At::malformed;
    if (c == '\r') return at_ == At::trailer_begin ? At::end : At::trailer_line_end;
    return is_of_a_line(c) ? At::trailer : At::malformed;
}

}  // namespace strid::http
