// SPDX-License-Identifier: Apache-2.0
//
// Prices, quantities and money of the exchange, exact. Plain values and functions without state;
// any thread.
//
// Invariant: a price is a whole number of 1/10,000, a quantity a whole number. Their bounds make an
// order's money fit 64 bits; a user's balance has 128.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strid::exchange {

using Price = std::int64_t;            ///< 1/10,000 of the currency
using Quantity = std::int64_t;         ///< shares
__extension__ using Money = __int128;  ///< 1/10,000 of the currency

inline constexpr Price price_unit = 10'000;
inline constexpr Price price_max = 100'000 * price_unit;
inline constexpr Quantity quantity_max = 1'000'000;

/// Digits with at most 4 behind a point, above 0 and at most `price_max`; empty for anything else.
[[nodiscard]] std::optional<Price> read_price(std::string_view text) noexcept;
/// Digits, above 0 and at most `quantity_max`; empty for anything else.
[[nodiscard]] std::optional<Quantity> read_quantity(std::string_view text) noexcept;
/// A whole number of so many digits at most; empty for anything else.
[[nodiscard]] std::optional<Money> read_money(std::string_view units) noexcept;

/// "12.5": without zeros at the end.
[[nodiscard]] std::string price_text(Price price);
/// The money that `quantity` shares cost, as the price of one: to the nearest 1/10,000, half up.
/// "0" for no shares.
[[nodiscard]] std::string average_text(Money money, Quantity quantity);
/// The whole number of 1/10,000.
[[nodiscard]] std::string money_units(Money money);
/// "-12.5".
[[nodiscard]] std::string money_text(Money money);

}  // namespace strid::exchange
