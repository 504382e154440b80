// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>

#include <strid/engine/base/excerpt.hpp>

namespace strid {

namespace {

struct Character {
    std::size_t bytes;
    bool is_shown;
};

struct Range {
    std::uint32_t first;
    std::uint32_t last;
};

// Characters that terminals obey, do not show, or that reorder the text around them; and
// non-characters.
constexpr std::array hidden{Range{0x00, 0x1f},     Range{0x7f, 0x9f},      Range{0xad, 0xad},
                            Range{0x61c, 0x61c},   Range{0x200b, 0x200f},  Range{0x2028, 0x202e},
                            Range{0x2060, 0x206f}, Range{0xd800, 0xdfff},  Range{0xfeff, 0xfeff},
                            Range{0xfff9, 0xfffb}, Range{0xe0000, 0xe0fff}};

bool is_hidden(std::uint32_t code) noexcept {
    for (const Range& range : hidden) {
        if (code >= range.first && code <= range.last) return true;
    }
    return false;
}

// The first character of `text`, which is not empty; one byte if it is not UTF-8.
Character first_character(std::string_view text) noexcept {
    constexpr Character no_character{1, false};
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {1, !is_hidden(lead)};
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    if (lead < 0xc2 || lead > 0xf4 || bytes > text.size()) return no_character;
    std::uint32_t code = lead & (0x7fU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return no_character;
        code = code << 6 | (byte(i) & 0x3f);
    }
    if (code < least[bytes] || code > 0x10ffff) return no_character;
    return {bytes, !is_hidden(code)};
}

void append_escaped(std::string& out, std::string_view bytes) {
    constexpr const char* digits = "0123456789abcdef";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += "\\x";
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
}

}  // namespace

std::string excerpt(std::string_view text, std::size_t bytes_max) {
    std::string result;
    std::size_t at = 0;
    while (at != text.size()) {
        const Character next = first_character(text.substr(at));
        if (at + next.bytes > bytes_max) return result + "...";
        const std::string_view bytes = text.substr(at, next.bytes);
        if (next.is_shown) {
            result += bytes;
        } else {
            append_escaped(result, bytes);
        }
        at += next.bytes;
    }
    return result;
}

}  // namespace strid
