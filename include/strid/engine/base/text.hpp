// SPDX-License-Identifier: Apache-2.0
//
// Equality of short texts, such as keys, and what a text may begin with. Stateless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace strid {

namespace detail {

/// Whether the words at `a` and `b` differ: one load from each and one comparison.
template <class Word>
[[nodiscard]] inline bool differ(const char* a, const char* b) noexcept {
    Word x;
    Word y;
    std::memcpy(&x, a, sizeof x);
    std::memcpy(&y, b, sizeof y);
    return x != y;
}

}  // namespace detail

/// a == b without a call: the comparison that every record with a text key makes once. It compares
/// words that may overlap, so that a key of 1 to 16 bytes takes two steps. O(size).
[[nodiscard, gnu::always_inline]] inline bool same_text(std::string_view a,
                                                        std::string_view b) noexcept {
    const std::size_t size = a.size();
    if (size != b.size()) return false;
    const char* x = a.data();
    const char* y = b.data();
    if (size >= 8) {
        const std::size_t last = size - 8;
        for (std::size_t at = 0; at < last; at += 8) {
            if (detail::differ<std::uint64_t>(x + at, y + at)) return false;
        }
        return !detail::differ<std::uint64_t>(x + last, y + last);
    }
    if (size >= 4) {
        return !detail::differ<std::uint32_t>(x, y) &&
               !detail::differ<std::uint32_t>(x + size - 4, y + size - 4);
    }
    if (size >= 2) {
        return !detail::differ<std::uint16_t>(x, y) && x[size - 1] == y[size - 1];
    }
    return size == 0 || *x == *y;
}

/// With it an encoder of UTF-8 may begin a text.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// The text behind its byte order mark, if it has one.
[[nodiscard]] constexpr std::string_view without_byte_order_mark(std::string_view text) noexcept {
    return text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
}

}  // namespace strid
