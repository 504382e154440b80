// SPDX-License-Identifier: Apache-2.0
//
// The fields of a plain row of CSV: where they end, looked for in many bytes at once, and numbers
// of known length, read by the word. Like the scans of connector/csv_value.hpp these give up
// (false) wherever they are not sure; where they succeed, read_csv_value() gives the same value.
// Texts are followed by LineReader::slack_bytes that may be read. Stateless, or used by one thread.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <strid/engine/connector/digits.hpp>

namespace strid::detail {

/// The delimiters of one line and its newline, one after the other.
class FieldEnds {
  public:
    FieldEnds(const char* line, char delimiter) noexcept
        : block_(line), delimiter_(delimiter), ends_(ends_of_block()) {}

    /// Not after the newline.
    [[gnu::always_inline]] const char* next() noexcept {
        while (ends_ == 0) {
            block_ += block_bytes;
            ends_ = ends_of_block();
        }
        const char* const end = block_ + std::countr_zero(ends_);
        ends_ &= ends_ - 1;
        return end;
    }

  private:
    static constexpr std::size_t block_bytes = 32;

    /// A bit for each byte of the block that ends a field.
    [[gnu::always_inline]] [[nodiscard]] std::uint32_t ends_of_block() const noexcept {
#ifdef __SSE2__
        const __m128i delimiters = _mm_set1_epi8(delimiter_);
        const __m128i newlines = _mm_set1_epi8('\n');
        const auto found = [&](const char* half) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(half));
            return static_cast<std::uint32_t>(_mm_movemask_epi8(
                _mm_or_si128(_mm_cmpeq_epi8(bytes, delimiters), _mm_cmpeq_epi8(bytes, newlines))));
        };
        return found(block_) | found(block_ + block_bytes / 2) << block_bytes / 2;
#else
        std::uint32_t ends = 0;
        for (std::size_t i = 0; i < block_bytes; ++i) {
            const bool is_end = block_[i] == delimiter_ || block_[i] == '\n';
            ends |= static_cast<std::uint32_t>(is_end) << i;
        }
        return ends;
#endif
    }

    const char* block_;
    char delimiter_;
    std::uint32_t ends_;
};

/// Up to 8 characters as the digits that they are, the last in the highest byte of a word; below
/// the first digit are zeros, as if the number had them in front.
class DigitWord {
  public:
    static constexpr std::ptrdiff_t characters_max = 8;

    DigitWord(const char* begin, std::ptrdiff_t length) noexcept {
        std::memcpy(&digits_, begin, sizeof digits_);
        digits_ = (digits_ ^ zeros) << (64 - 8 * length);
    }
    /// The highest bit of each byte that is no digit; of those behind the first such it may be set
    /// without cause.
    [[nodiscard]] std::uint64_t others() const noexcept {
        return ((digits_ + 0x76 * ones) | digits_) & 0x80 * ones;
    }
    /// Takes out the character that `other`, one of others(), is for; returns how many are behind
    /// it. False in `is_point` where it is none.
    std::size_t take_point(std::uint64_t other, bool& is_point) noexcept {
        const std::uint64_t lowest = other >> 7;  // the lowest bit of the byte
        const auto place = static_cast<unsigned>(std::countr_zero(lowest));
        is_point = (digits_ >> place & 0xff) == ('.' ^ '0');
        digits_ = (digits_ & (lowest - 1)) << 8 | (digits_ & -(lowest << 8));
        return 7 - place / 8;
    }
    /// Where all are digits.
    [[nodiscard]] std::uint64_t number() const noexcept {
        return number_of_digits(digits_ + zeros, 8);
    }

  private:
    static constexpr std::uint64_t ones = 0x0101010101010101;
    static constexpr std::uint64_t zeros = '0' * ones;

    std::uint64_t digits_;
};

/// Whether words of text have their first character in the lowest byte.
inline constexpr bool reads_words = std::endian::native == std::endian::little;

/// A whole number of at most 16 digits, with a minus sign or none.
[[gnu::always_inline]] inline bool read_whole_number(const char* begin, const char* end,
                                                     std::int64_t& number) noexcept {
    constexpr std::ptrdiff_t half = DigitWord::characters_max;
    const bool is_negative = *begin == '-';
    begin += static_cast<int>(is_negative);
    const std::ptrdiff_t length = end - begin;
    if (!reads_words || length < 1 || length > 2 * half) return false;
    std::uint64_t size = 0;
    if (length > half) {
        const DigitWord first(begin, length - half);
        if (first.others() != 0) return false;
        size = first.number() * 100'000'000;
        begin = end - half;
    }
    const DigitWord last(begin, end - begin);
    if (last.others() != 0) return false;
    size += last.number();
    number = static_cast<std::int64_t>(is_negative ? std::uint64_t{0} - size : size);
    return true;
}

/// A number that has been read: an integer, or one with a point.
struct ShortNumber {
    std::int64_t integer;
    double decimal;
    bool is_decimal;
};

/// At most 8 characters besides a minus sign: digits, and a point among or before them. It is taken
/// out, so that one pass reads the digits on both sides; they and the power of ten are doubles, and
/// one division rounds. Without a point it is an integer.
inline bool read_short_number(const char* begin, const char* end, ShortNumber& number) noexcept {
    static constexpr std::array<double, 8> powers{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    const bool is_negative = *begin == '-';
    begin += static_cast<int>(is_negative);
    const std::ptrdiff_t length = end - begin;
    if (!reads_words || length < 1 || length > DigitWord::characters_max) return false;
    DigitWord word(begin, length);
    const std::uint64_t others = word.others();
    number.is_decimal = others != 0;
    if (others == 0) {
        const auto size = static_cast<std::int64_t>(word.number());
        number.integer = is_negative ? -size : size;
        return true;
    }
    bool is_point = false;
    const std::size_t places = word.take_point(others, is_point);
    if (!is_point || places == 0 || (others & (others - 1)) != 0) return false;
    const double size =
        static_cast<double>(static_cast<std::int64_t>(word.number())) / powers[places];
    number.decimal = is_negative ? -size : size;
    return true;
}

}  // namespace strid::detail
