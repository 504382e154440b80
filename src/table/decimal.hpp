// SPDX-License-Identifier: Apache-2.0
//
// Decimals of 18 digits: whole numbers of units of 10^-scale. Pure functions; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <strid/table/schema.hpp>

namespace strid::table {

/// 10^0 to 10^18.
inline constexpr auto powers_of_ten = [] {
    std::array<std::int64_t, decimal_digits + 1> powers{1};
    for (std::size_t i = 1; i != powers.size(); ++i) powers[i] = powers[i - 1] * 10;
    return powers;
}();
/// Every decimal is smaller in size.
inline constexpr std::int64_t decimal_bound = powers_of_ten[decimal_digits];

[[nodiscard]] constexpr bool is_decimal(std::int64_t units) noexcept {
    return units > -decimal_bound && units < decimal_bound;
}
/// The units of another scale, half units away from zero. Empty: more than 18 digits.
[[nodiscard]] std::optional<std::int64_t> rescaled(std::int64_t units, unsigned from, unsigned to);
/// The nearest decimal. Empty: not finite, or more than 18 digits.
[[nodiscard]] std::optional<std::int64_t> decimal_of(double value, unsigned scale);
/// Reads the whole text: a sign, digits and a point, blanks around them. Further digits are
/// rounded. Empty: no number, or more than 18 digits.
[[nodiscard]] std::optional<std::int64_t> read_decimal(std::string_view text, unsigned scale,
                                                       char point = '.');
/// Appends `-1.50`.
void append_decimal(std::string& out, std::int64_t units, unsigned scale);

}  // namespace strid::table
