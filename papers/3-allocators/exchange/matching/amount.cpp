// SPDX-License-Identifier: Apache-2.0
#include "amount.hpp"

#include <algorithm>

namespace strid::exchange {

namespace {

constexpr std::size_t decimals_max = 4;
constexpr std::size_t money_digits_max = 36;  // of 38 that 128 bits hold

bool are_digits(std::string_view text) noexcept {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Of digits; empty where it is more than `most`.
std::optional<std::int64_t> read_digits(std::string_view text, std::int64_t most) noexcept {
    if (!are_digits(text)) return std::nullopt;
    std::int64_t value = 0;
    for (const char c : text) {
        value = value * 10 + (c - '0');
        if (value > most) return std::nullopt;
    }
    return value;
}

std::string with_decimals(Money units) {
    const bool is_negative = units < 0;
    std::string text = money_units(is_negative ? -units : units);
    if (text.size() <= decimals_max) text.insert(0, decimals_max + 1 - text.size(), '0');
    text.insert(text.size() - decimals_max, 1, '.');
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return is_negative ? "-" + text : text;
}

}  // namespace

std::optional<Price> read_price(std::string_view text) noexcept {
    const std::size_t point = text.find('.');
    const auto whole = read_digits(text.substr(0, point), price_max / price_unit);
    if (!whole) return std::nullopt;
    Price price = *whole * price_unit;
    if (point != std::string_view::npos) {
        const std::string_view behind = text.substr(point + 1);
        if (behind.size() > decimals_max) return std::nullopt;
        auto fraction = read_digits(behind, price_unit);
        if (!fraction) return std::nullopt;
        for (std::size_t i = behind.size(); i != decimals_max; ++i) *fraction *= 10;
        price += *fraction;
    }
    if (price <= 0 || price > price_max) return std::nullopt;
    return price;
}

std::optional<Quantity> read_quantity(std::string_view text) noexcept {
    const auto quantity = read_digits(text, quantity_max);
    return quantity && *quantity > 0 ? quantity : std::nullopt;
}

std::optional<Money> read_money(std::string_view units) noexcept {
    const bool is_negative = units.starts_with('-');
    if (is_negative) units.remove_prefix(1);
    if (!are_digits(units) || units.size() > money_digits_max) return std::nullopt;
    Money value = 0;
    for (const char c : units) value = value * 10 + (c - '0');
    return is_negative ? -value : value;
}

std::string price_text(Price price) {
    return with_decimals(price);
}

std::string average_text(Money money, Quantity quantity) {
    if (quantity == 0) return "0";
    return with_decimals((2 * money + quantity) / (2 * Money{quantity}));
}

std::string money_units(Money money) {
    if (money == 0) return "0";
    const bool is_negative = money < 0;
    std::string text;
    for (; money != 0; money /= 10) {
        const int digit = static_cast<int>(money % 10);
        text.push_back(static_cast<char>('0' + (is_negative ? -digit : digit)));
    }
    if (is_negative) text.push_back('-');
    std::reverse(text.begin(), text.end());
    return text;
}

std::string money_text(Money money) {
    return with_decimals(money);
}

}  // namespace strid::exchange
