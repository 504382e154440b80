// SPDX-License-Identifier: Apache-2.0
#include "decimal.hpp"

#include <cmath>

#include <fmt/format.h>

#include <strid/connector/csv_value.hpp>

namespace strid::table {

std::optional<std::int64_t> rescaled(std::int64_t units, unsigned from, unsigned to) {
    if (to >= from) {
        std::int64_t result = 0;
        if (__builtin_mul_overflow(units, powers_of_ten[to - from], &result)) return std::nullopt;
        if (!is_decimal(result)) return std::nullopt;
        return result;
    }
    const std::int64_t by = powers_of_ten[from - to];
    const std::int64_t rest = units % by;
    const std::int64_t whole = units / by;
    const std::int64_t away = rest < 0 ? -1 : 1;
    return std::abs(rest) >= by - std::abs(rest) ? whole + away : whole;
}

std::optional<std::int64_t> decimal_of(double value, unsigned scale) {
    const double scaled = std::round(value * static_cast<double>(powers_of_ten[scale]));
    if (!(std::abs(scaled) < static_cast<double>(decimal_bound))) return std::nullopt;
    return static_cast<std::int64_t>(scaled);
}

std::optional<std::int64_t> read_decimal(std::string_view text, unsigned scale, char point) {
    text = strid::detail::without_plus(strid::detail::trimmed(text));
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    std::int64_t units = 0;
    std::size_t digits = 0;
    std::size_t places = 0;
    bool is_behind_point = false;
    bool rounds_up = false;
    for (const char c : text) {
        if (c == point && !is_behind_point) {
            is_behind_point = true;
            continue;
        }
        if (c < '0' || c > '9') return std::nullopt;
        ++digits;
        if (is_behind_point && ++places > scale) {
            if (places == scale + 1) rounds_up = c >= '5';
            continue;
        }
        if (units >= decimal_bound / 10) return std::nullopt;
        units = units * 10 + (c - '0');
    }
    if (digits == 0) return std::nullopt;
    if (places < scale) {
        const auto scaled = rescaled(units, static_cast<unsigned>(places), scale);
        if (!scaled) return std::nullopt;
        units = *scaled;
    }
    units += rounds_up ? 1 : 0;
    if (!is_decimal(units)) return std::nullopt;
    return is_negative ? -units : units;
}

void append_decimal(std::string& out, std::int64_t units, unsigned scale) {
    if (units < 0) out += '-';
    const std::int64_t size = units < 0 ? -units : units;
    const std::int64_t unit = powers_of_ten[scale];
    out += fmt::format_int(size / unit).c_str();
    if (scale == 0) return;
    const fmt::format_int places(size % unit + unit);  // a 1 keeps the zeros
    out += '.';
    out.append(places.data() + 1, places.size() - 1);
}

}  // namespace strid::table
