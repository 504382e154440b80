// SPDX-License-Identifier: Apache-2.0
//
// The numbers of a table. The text decides the type of a number: digits with or without a sign are
// an integer, which stays exact from -2^63 to 2^64 - 1; anything else, and an integer beyond these,
// is a decimal: the nearest double. Stateless; any thread.
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <strid/connector/csv_value.hpp>
#include <strid/state/bytes.hpp>

namespace strid::tool {

enum class ValueKind : std::uint8_t {
    missing,
    decimal,
    integer,  ///< below 2^63
    large,    ///< an integer from 2^63 on
    text
};

/// The value of a field of a row, by its kind. A text begins here.
union TableValue {
    double decimal;
    std::int64_t integer;
    std::uint64_t large;
    const char* text;
};

struct TableNumber {
    TableValue value;
    ValueKind kind;
};

__extension__ using WideInteger = __int128;

/// Of an integer.
[[nodiscard]] inline WideInteger integer_of(const TableNumber& number) noexcept {
    return number.kind == ValueKind::large ? WideInteger{number.value.large}
                                           : WideInteger{number.value.integer};
}
/// The nearest double.
[[nodiscard]] inline double decimal_of(const TableNumber& number) noexcept {
    if (number.kind == ValueKind::decimal) return number.value.decimal;
    return number.kind == ValueKind::large ? static_cast<double>(number.value.large)
                                           : static_cast<double>(number.value.integer);
}

// As strid/state/codec.hpp says: the kind, and the bits of the value. A text has no bits that would
// mean anything in another process.
inline void save_state(StateWriter& writer, const TableNumber& number) {
    writer.number(static_cast<std::uint64_t>(number.kind));
    writer.number(std::bit_cast<std::uint64_t>(number.value));
}
inline void load_state(StateReader& reader, TableNumber& number) {
    number.kind = static_cast<ValueKind>(reader.choice(static_cast<std::size_t>(ValueKind::text)));
    number.value = std::bit_cast<TableValue>(reader.number());
}

/// Negative, zero, positive: an integer is less than a finite double, the same, or more; exactly.
[[nodiscard]] inline int compare_exactly(WideInteger integer, double decimal) noexcept {
    constexpr double beyond = 0x1p64;  // what any integer of a table is below
    if (decimal >= beyond) return -1;
    if (decimal < -beyond) return 1;
    const auto whole = static_cast<WideInteger>(decimal);  // towards zero
    if (integer != whole) return integer < whole ? -1 : 1;
    const double rest = decimal - static_cast<double>(whole);  // exact
    return rest > 0 ? -1 : static_cast<int>(rest < 0);
}
[[nodiscard]] inline int compare(const TableNumber& a, const TableNumber& b) noexcept {
    const bool a_is_decimal = a.kind == ValueKind::decimal;
    const bool b_is_decimal = b.kind == ValueKind::decimal;
    if (a_is_decimal && b_is_decimal) {
        return static_cast<int>(a.value.decimal > b.value.decimal) -
               static_cast<int>(a.value.decimal < b.value.decimal);
    }
    if (a_is_decimal) return -compare_exactly(integer_of(b), a.value.decimal);
    if (b_is_decimal) return compare_exactly(integer_of(a), b.value.decimal);
    return static_cast<int>(integer_of(a) > integer_of(b)) -
           static_cast<int>(integer_of(a) < integer_of(b));
}

/// `true` is 1 and `false` is 0, as detail::read_bool() has these words.
[[nodiscard]] inline bool read_truth(std::string_view text, TableNumber& number) noexcept {
    bool value = false;
    const bool is_word = !text.empty() && (text.back() == 'e' || text.back() == 'E');
    if (!is_word || detail::read_bool(text, value) != nullptr) return false;
    number.value.integer = static_cast<std::int64_t>(value);
    number.kind = ValueKind::integer;
    return true;
}

/// Takes any text, as detail::read_csv_value() of a double does, and the words for truth.
[[nodiscard]] inline detail::CsvFault read_table_number(std::string_view text, TableNumber& number,
                                                        const NumberFormat& format) noexcept {
    const std::string_view meant = detail::without_plus(detail::trimmed(text));
    const char* const end = meant.data() + meant.size();
    auto read = std::from_chars(meant.data(), end, number.value.integer);
    number.kind = ValueKind::integer;
    if (read.ec == std::errc::result_out_of_range && !meant.starts_with('-')) {
        read = std::from_chars(meant.data(), end, number.value.large);
        number.kind = ValueKind::large;
    }
    if (read.ec == std::errc{} && read.ptr == end) return nullptr;
    if (read_truth(meant, number)) return nullptr;
    number.kind = ValueKind::decimal;
    return detail::read_floating(text, number.value.decimal, format);
}

/// The number without the separators between groups of digits before its point. False where there
/// is none, or the groups are none of thousands: the text is what it is. O(size).
[[nodiscard]] bool without_thousands(std::string_view text, std::span<const std::string> separators,
                                     std::string& number);

inline void append_integer(std::string& out, WideInteger integer) {
    if (const auto narrow = static_cast<std::int64_t>(integer); narrow == integer) {
        detail::append_csv_value(out, narrow, ',');
    } else {
        out += fmt::format("{}", integer);
    }
}
inline void append_number(std::string& out, const TableNumber& number) {
    if (number.kind == ValueKind::decimal) {
        detail::append_csv_value(out, number.value.decimal, ',');
    } else {
        append_integer(out, integer_of(number));
    }
}

/// A value computed of integers: as a double, and one that a double has no room for with all its
/// digits.
inline void append_exactly(std::string& out, long double value) {
    constexpr long double double_max = 0x1p53L;
    constexpr long double integer_max = 0x1p126L;
    const long double size = std::abs(value);
    if (size <= double_max || size >= integer_max) {
        detail::append_csv_value(out, static_cast<double>(value), ',');
    } else if (std::trunc(value) == value) {
        append_integer(out, static_cast<WideInteger>(value));
    } else {
        out += fmt::format("{}", value);
    }
}

}  // namespace strid::tool
