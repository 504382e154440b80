// SPDX-License-Identifier: Apache-2.0
//
// Decimal numbers with units, read exactly: 4.1s is 4,100,000,000 ns, which no double times 1e9 is
// sure to be.
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/quantity.hpp>
#include <strid/engine/base/time_fields.hpp>

namespace strid {

using detail::is_digit;

namespace {

__extension__ using WideNumber = unsigned __int128;

/// `digits` times ten to the power of `exponent`, and the unit behind it. Without zeros at the end
/// of the digits.
struct Quantity {
    WideNumber digits = 0;
    int exponent = 0;
    bool is_exact = true;  // not: more digits than any quantity has that is a whole number
    std::string_view unit;
};

/// Takes `e3`, `E-2`; leaves an `e` that no number follows.
bool take_exponent(std::string_view& text, int& exponent) {
    if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return true;
    const char* begin = text.data() + 1;
    const char* const end = text.data() + text.size();
    if (end - begin > 1 && begin[0] == '+' && is_digit(begin[1])) ++begin;
    int power = 0;
    const auto [stop, error] = std::from_chars(begin, end, power);
    if (error == std::errc::invalid_argument) return true;
    constexpr int power_max = 10'000;
    if (error != std::errc{} || power > power_max || power < -power_max) return false;
    exponent += power;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    return true;
}

/// Nothing where no number stands in front.
std::optional<Quantity> quantity(std::string_view text) {
    constexpr int digits_max = 23;  // times a week in nanoseconds is below 2^128
    Quantity result;
    int digits = 0;
    int zeros = 0;  // behind the last digit that is none
    bool is_fraction = false;
    bool has_digits = false;
    for (; !text.empty(); text.remove_prefix(1)) {
        const char c = text.front();
        if (c == '.' && !is_fraction) {
            is_fraction = true;
            continue;
        }
        if (!is_digit(c)) break;
        has_digits = true;
        if (is_fraction) --result.exponent;
        if (c == '0') {
            zeros += static_cast<int>(digits != 0);
            continue;
        }
        for (digits += zeros + 1; zeros >= 0; --zeros) {
            if (digits <= digits_max) result.digits *= 10;
        }
        zeros = 0;
        if (digits <= digits_max) result.digits += static_cast<WideNumber>(c - '0');
    }
    if (!has_digits || !take_exponent(text, result.exponent)) return std::nullopt;
    result.exponent += zeros;
    result.is_exact = digits <= digits_max;
    if (digits == 0) result.exponent = 0;
    result.unit = text;
    return result;
}

enum class Fit : std::uint8_t { whole, too_fine, too_large };

/// The quantity times `scale` as a whole number.
Fit whole_number(const Quantity& quantity, std::uint64_t scale, std::uint64_t most,
                 std::uint64_t& number) {
    // A number with more digits than fit is above the limits, or has digits behind the point.
    if (!quantity.is_exact) return quantity.exponent >= 0 ? Fit::too_large : Fit::too_fine;
    WideNumber product = quantity.digits * scale;
    for (int i = quantity.exponent; i < 0; ++i) {
        if (product % 10 != 0) return Fit::too_fine;
        product /= 10;
        if (product == 0) break;
    }
    for (int i = 0; i < quantity.exponent && product <= most; ++i) product *= 10;
    if (product > most) return Fit::too_large;
    number = static_cast<std::uint64_t>(product);
    return Fit::whole;
}

enum class Zero : std::uint8_t { refused, taken };

struct QuantityUnit {
    std::string_view name;
    std::uint64_t scale;
};

constexpr std::array<QuantityUnit, 13> time_units = {{{"ns", 1},
                                                      {"us", 1'000},
                                                      {"\u00b5s", 1'000},  // the micro sign
                                                      {"\u03bcs", 1'000},  // the Greek letter
                                                      {"ms", 1'000'000},
                                                      {"s", 1'000'000'000},
                                                      {"m", 60'000'000'000},
                                                      {"min", 60'000'000'000},
                                                      {"h", 3'600'000'000'000},
                                                      {"d", 86'400'000'000'000},
                                                      {"day", 86'400'000'000'000},
                                                      {"w", 604'800'000'000'000},
                                                      {"week", 604'800'000'000'000}}};

constexpr std::array<QuantityUnit, 5> rate_units = {
    {{"", 1}, {"k", 1'000}, {"K", 1'000}, {"M", 1'000'000}, {"G", 1'000'000'000}}};

constexpr std::array<QuantityUnit, 4> byte_units = {
    {{"", 1}, {"K", 1ULL << 10U}, {"M", 1ULL << 20U}, {"G", 1ULL << 30U}}};

template <class Units>
const QuantityUnit* find(const Units& units, std::string_view name) {
    for (const QuantityUnit& unit : units) {
        if (unit.name == name) return &unit;
    }
    return nullptr;
}

std::chrono::nanoseconds duration(std::string_view text, Zero zero) {
    const auto parts = quantity(text);
    if (parts && parts->unit.empty()) {
        if (parts->digits == 0 && zero == Zero::taken) return {};
        throw GraphError(fmt::format(
            "'{0}' is a time without a unit: {0}s, {0}ms, ... (units: ns us ms s m h d w)", text));
    }
    const QuantityUnit* const unit = parts ? find(time_units, parts->unit) : nullptr;
    if (unit == nullptr || (parts->digits == 0 && zero == Zero::refused)) {
        throw GraphError(fmt::format(
            "'{}' is not a time like 5s, 250ms or 2m (units: ns us ms s m h d w)", text));
    }
    std::uint64_t ns = 0;
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    switch (whole_number(*parts, unit->scale, most, ns)) {
        case Fit::too_fine:
            throw GraphError(fmt::format("'{}' is no whole number of nanoseconds", text));
        case Fit::too_large:
            throw GraphError(fmt::format("'{}' is too long a time", text));
        default:
            return std::chrono::nanoseconds(static_cast<std::int64_t>(ns));
    }
}

}  // namespace

std::chrono::nanoseconds read_duration(std::string_view text) {
    return duration(text, Zero::refused);
}

std::chrono::nanoseconds read_duration_or_zero(std::string_view text) {
    return duration(text, Zero::taken);
}

double read_rate(std::string_view text) {
    const auto parts = quantity(text);
    const QuantityUnit* const unit = parts ? find(rate_units, parts->unit) : nullptr;
    double rate = 0;
    if (unit != nullptr && parts->digits != 0) {
        // The power of ten of the unit goes into the text, so that it is rounded once.
        int power = 0;
        for (std::uint64_t scale = unit->scale; scale > 1; scale /= 10) ++power;
        std::string number(text.substr(0, text.size() - parts->unit.size()));
        const auto exponent = number.find_first_of("eE");
        if (exponent != std::string::npos) {
            int given = 0;
            const char* begin = number.data() + exponent + 1;
            if (*begin == '+') ++begin;
            std::from_chars(begin, number.data() + number.size(), given);
            power += given;
            number.resize(exponent);
        }
        number += fmt::format("e{}", power);
        std::from_chars(number.data(), number.data() + number.size(), rate);
    }
    if (!(rate > 0) || !std::isfinite(rate)) {
        throw GraphError(
            fmt::format("'{}' is not a rate per second like 10000, 50k or 1.5M", text));
    }
    return rate;
}

namespace {

template <class Units>
std::uint64_t whole(std::string_view text, const Units& units, std::string_view form) {
    const auto parts = quantity(text);
    const QuantityUnit* const unit = parts ? find(units, parts->unit) : nullptr;
    std::uint64_t number = 0;
    if (unit == nullptr || parts->digits == 0) {
        throw GraphError(fmt::format("'{}' is not a number {}", text, form));
    }
    switch (whole_number(*parts, unit->scale, std::numeric_limits<std::uint64_t>::max(), number)) {
        case Fit::too_fine:
            throw GraphError(fmt::format("'{}' is not a whole number", text));
        case Fit::too_large:
            throw GraphError(fmt::format("'{}' is too large a number", text));
        default:
            return number;
    }
}

}  // namespace

std::uint64_t read_whole_number(std::string_view text) {
    return whole(text, rate_units, "like 10000, 50k or 1.5M");
}

std::uint64_t read_byte_count(std::string_view text) {
    return whole(text, byte_units, "of bytes like 4096, 64K or 16M");
}

}  // namespace strid
