// SPDX-License-Identifier: Apache-2.0
#include "message_cutter.hpp"

#include <algorithm>

namespace strid::detail {

namespace {

constexpr std::size_t length_bytes = 4;

std::size_t length_of(std::string_view message) noexcept {
    std::size_t length = 0;
    for (const char c : message.substr(0, length_bytes)) {
        length = length << 8U | static_cast<unsigned char>(c);
    }
    return length;
}

}  // namespace

bool MessageCutter::add(std::string_view piece, std::string& whole) {
    return framing_ == Framing::lines ? add_lines(piece, whole) : add_payloads(piece, whole);
}

bool MessageCutter::add_lines(std::string_view piece, std::string& whole) {
    std::size_t begin = 0;  // of a line
    for (std::size_t before = begun_.size();; before = 0) {
        const std::size_t end = std::min(piece.find('\n', begin), piece.size());
        const bool is_short = before + end - begin <= bytes_max_;
        if (is_short && end != piece.size()) {
            begin = end + 1;
            continue;
        }
        if (begin != 0) {
            (whole += begun_) += piece.substr(0, begin);
            begun_.clear();
        }
        begun_ += piece.substr(begin);
        return is_short;
    }
}

bool MessageCutter::add_payloads(std::string_view piece, std::string& whole) {
    begun_ += piece;
    std::string_view rest = begun_;
    bool is_short = true;
    while (rest.size() >= length_bytes) {
        const std::size_t length = length_of(rest);
        is_short = length <= bytes_max_;
        if (!is_short || rest.size() - length_bytes < length) break;
        const std::string_view payload = rest.substr(length_bytes, length);
        whole += payload;
        if (!payload.empty() && payload.back() != '\n') whole += '\n';
        rest.remove_prefix(length_bytes + length);
    }
    begun_.erase(0, begun_.size() - rest.size());
    return is_short;
}

}  // namespace strid::detail
