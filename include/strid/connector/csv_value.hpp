// SPDX-License-Identifier: Apache-2.0
//
// Converts the text of one column to a value and back. read_csv_value() takes any text and reports
// what is wrong with it. scan_csv_value() is fast for plain text; it returns false for anything
// else. Stateless; any thread; no allocation but for std::string fields.
//
// Invariant: where scan_csv_value() succeeds, read_csv_value() gives the same value.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <strid/connector/fields.hpp>
#include <strid/engine/connector/csv_row.hpp>
#include <strid/engine/connector/digits.hpp>

namespace strid {

/// Whether the words nan, inf and infinity are numbers. A number too large for its type never is.
enum class NonFinite : std::uint8_t {
    reject,  ///< They are no numbers: the row is refused.
    accept   ///< They are numbers.
};

/// How numbers are written.
struct NumberFormat {
    NonFinite non_finite = NonFinite::reject;  ///< Whether the words nan and inf are numbers.
    char decimal_point = '.';                  ///< '.' or ','.

    /// Both at once.
    NumberFormat(NonFinite of_words, char point = '.')
        : non_finite(of_words), decimal_point(point) {}
};

namespace detail {

/// Null: fine. Otherwise what is wrong, to be followed by the text.
using CsvFault = const char*;

inline std::string_view trimmed(std::string_view text) noexcept {
    const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

/// Without the plus sign that from_chars does not know.
inline std::string_view without_plus(std::string_view text) noexcept {
    const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
    return plus ? text.substr(1) : text;
}

template <std::integral T>
CsvFault read_integer(std::string_view text, T& value) noexcept {
    text = without_plus(trimmed(text));
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec == std::errc::result_out_of_range) return "out of range";
    if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) {
        return "not an integer";
    }
    return nullptr;
}

[[nodiscard]] CsvFault read_floating(std::string_view text, double& value,
                                     const NumberFormat& format) noexcept;
[[nodiscard]] CsvFault read_floating(std::string_view text, float& value,
                                     const NumberFormat& format) noexcept;

inline CsvFault read_bool(std::string_view text, bool& value) noexcept {
    text = trimmed(text);
    value = text == "1" || text == "true" || text == "True" || text == "TRUE";
    const bool known =
        value || text == "0" || text == "false" || text == "False" || text == "FALSE";
    return known ? nullptr : "not a boolean";
}

template <class T>
CsvFault read_csv_value(std::string_view text, T& value, const NumberFormat& format) {
    if constexpr (CustomCsvField<T>) {
        return from_csv(text, value) ? nullptr : "not a valid value";
    } else if constexpr (is_optional<T>) {
        constexpr bool is_number = std::is_arithmetic_v<typename T::value_type> &&
                                   !std::same_as<typename T::value_type, char>;
        if ((is_number ? trimmed(text) : text).empty()) {
            value.reset();
            return nullptr;
        }
        return read_csv_value(text, value.emplace(), format);
    } else if constexpr (std::same_as<T, bool>) {
        return read_bool(text, value);
    } else if constexpr (std::same_as<T, char>) {
        if (text.size() != 1) return "not a single character";
        value = text.front();
        return nullptr;
    } else if constexpr (std::integral<T>) {
        return read_integer(text, value);
    } else if constexpr (std::floating_point<T>) {
        return read_floating(text, value, format);
    } else if constexpr (std::is_enum_v<T>) {
        std::underlying_type_t<T> number{};
        const CsvFault fault = read_csv_value(text, number, format);
        value = static_cast<T>(number);
        return fault;
    } else if constexpr (is_time_point<T>) {
        std::int64_t ns = 0;
        const CsvFault fault = read_integer(text, ns);
        value = T::of_ns(ns);
        return fault;
    } else if constexpr (is_char_array<T>) {
        if (text.size() > value.size()) return "text too long";
        std::fill(std::copy(text.begin(), text.end(), value.begin()), value.end(), '\0');
        return nullptr;
    } else {
        value = T(text);  // std::string_view, std::string
        return nullptr;
    }
}

template <std::integral T>
bool scan_integer(const char*& p, T& value) noexcept {
    bool negative = false;
    if constexpr (std::is_signed_v<T>) {
        negative = *p == '-';
        if (negative) ++p;
    }
    std::uint64_t number = 0;
    const std::ptrdiff_t digits = take_digits(p, number);
    constexpr std::ptrdiff_t digits_max = 18;  // whatever they are, they fit 63 bits
    if (digits == 0 || digits > digits_max) return false;
    if constexpr (sizeof(T) < sizeof(std::uint64_t)) {
        if (number > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) return false;
    }
    value = static_cast<T>(negative ? std::uint64_t{0} - number : number);
    return true;
}

/// Reads any finite number at `p`, and passes it.
[[nodiscard]] bool scan_any_floating(const char*& p, const char* end, double& value) noexcept;
[[nodiscard]] bool scan_any_floating(const char*& p, const char* end, float& value) noexcept;

/// The usual number: at most 15 digits, with or without a fraction. Both they and the power of ten
/// are doubles, so one division rounds as reading the text does and nothing else rounds.
template <std::floating_point T>
bool scan_floating(const char*& p, const char* end, T& value) noexcept {
    if constexpr (std::same_as<T, double>) {
        static constexpr std::array<double, 16> powers{
            1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
        constexpr std::ptrdiff_t digits_max = 15;
        const bool negative = *p == '-';
        const char* at = p + static_cast<int>(negative);
        std::uint64_t number = 0;
        const std::ptrdiff_t whole = take_digits(at, number);
        bool is_usual = whole > 0 && whole <= digits_max;
        // Of signed numbers, which the processor converts by one instruction.
        auto size = static_cast<double>(static_cast<std::int64_t>(number));
        if (is_usual && *at == '.') {
            ++at;
            const std::ptrdiff_t places = take_digits(at, number);
            is_usual = places > 0 && whole + places <= digits_max;
            if (is_usual) {
                const double power = powers[static_cast<std::size_t>(places)];
                const auto rest = static_cast<double>(static_cast<std::int64_t>(number));
                size = (size * power + rest) / power;
            }
        }
        if (is_usual && (*at | 0x20) != 'e') {
            value = negative ? -size : size;
            p = at;
            return true;
        }
    }
    return scan_any_floating(p, end, value);
}

/// Reads `value` from `p`, where a field begins, up to what must be its end. `end` is that of the
/// whole region.
template <class T>
bool scan_csv_value(const char*& p, const char* end, char delimiter, T& value) noexcept {
    if constexpr (CustomCsvField<T>) {
        return false;
    } else if constexpr (std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>) {
        return scan_integer(p, value);
    } else if constexpr (std::floating_point<T>) {
        return scan_floating(p, end, value);
    } else if constexpr (is_time_point<T>) {
        std::int64_t ns = 0;
        const bool read = scan_integer(p, ns);
        value = T::of_ns(ns);
        return read;
    } else if constexpr (std::same_as<T, std::string_view>) {
        if (*p == '"') return false;
        const char* const first = p;
        p = find_csv_field_end(p, delimiter);
        if (*p == '\n' && p != first && p[-1] == '\r') --p;
        value = {first, static_cast<std::size_t>(p - first)};
        return true;
    } else {
        return false;
    }
}

/// Appends the shortest text that reads back the same, as fmt's `{}` has it.
void append_floating(std::string& out, double value);
void append_floating(std::string& out, float value);
void append_floating(std::string& out, long double value);

template <class T>
void append_csv_value(std::string& out, const T& value, char delimiter) {
    if constexpr (CustomCsvField<T>) {
        std::string text;
        to_csv(text, value);
        append_csv_field(out, text, delimiter);
    } else if constexpr (is_optional<T>) {
        if (value) append_csv_value(out, *value, delimiter);
    } else if constexpr (std::same_as<T, bool>) {
        out += value ? "true" : "false";
    } else if constexpr (std::same_as<T, char>) {
        append_csv_field(out, {&value, 1}, delimiter);
    } else if constexpr (std::integral<T>) {
        char text[24];
        const char* const end = std::to_chars(std::begin(text), std::end(text), +value).ptr;
        out.append(text, static_cast<std::size_t>(end - text));
    } else if constexpr (std::floating_point<T>) {
        append_floating(out, value);
    } else if constexpr (std::is_enum_v<T>) {
        append_csv_value(out, static_cast<std::underlying_type_t<T>>(value), delimiter);
    } else if constexpr (is_time_point<T>) {
        append_csv_value(out, value.ns(), delimiter);
    } else if constexpr (is_char_array<T>) {
        const auto last = std::find(value.begin(), value.end(), '\0');
        append_csv_field(out, {value.begin(), last}, delimiter);
    } else {
        append_csv_field(out, value, delimiter);
    }
}

}  // namespace detail
}  // namespace strid
