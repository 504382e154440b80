// SPDX-License-Identifier: Apache-2.0
//
// The state of a window for a column of numbers: a sum, an extreme, a variance. Cells are a few
// words of plain bytes, which lie in the array of words of a state (hence may_alias), empty where
// all are zero, and combine in any order to the same: integers are added up in 128 bits, extremes
// are compared exactly; sums of decimals are rounded as those of doubles are.
//
// Threads: as any state of an aggregate.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <strid/window/aggregates/moments.hpp>

#include "table_number.hpp"

namespace strid::tool {

/// How many numbers, and their sum. Of integers alone it has 128 bits. Where decimals are among
/// them it is two sums, that of the integers in 64 bits and that of the decimals as a double; an
/// integer sum that would leave its 64 bits is added to the decimals.
///
/// A sum of decimals that leaves the range of a double goes on scaled down by 2^64: the mean is
/// right all the same.
class [[gnu::may_alias]] NumberTotal {
  public:
    [[gnu::always_inline]] void add(const TableNumber& number) noexcept {
        if (number.kind == ValueKind::decimal) {
            add_decimal(number.value.decimal);
        } else {
            count_ += one;
            add_integer(integer_of(number));
        }
    }
    [[gnu::always_inline]] void add(const NumberTotal& other) noexcept {
        if (((count_ | other.count_) & flags) == 0) {
            count_ += other.count_;
            add_words(other.low_, other.high_);
        } else if (count_ == 0) {
            *this = other;
        } else if (other.count_ != 0) {
            add_mixed(other);
        }
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_ / one; }
    /// The sum is an integer: it is wide().
    [[nodiscard]] bool is_integer() const noexcept { return !is_mixed(); }
    [[nodiscard]] WideInteger wide() const noexcept {
        return static_cast<WideInteger>(static_cast<std::int64_t>(high_)) *
                   (static_cast<WideInteger>(1) << 64) +
               low_;
    }
    /// The sum as a double; infinite where it is beyond the largest.
    [[nodiscard]] double sum() const noexcept {
        if (!is_mixed()) return static_cast<double>(wide());
        const auto integers = static_cast<double>(static_cast<std::int64_t>(low_));
        return (is_scaled() ? decimals() * scale : decimals()) + integers;
    }
    /// Of integers: the sum divided by a whole number that is not 0, as a long double has it.
    [[nodiscard]] long double quotient(WideInteger divisor) const noexcept {
        return static_cast<long double>(wide() / divisor) +
               static_cast<long double>(wide() % divisor) / static_cast<long double>(divisor);
    }
    /// Of one number at least.
    [[nodiscard]] double mean() const noexcept {
        const auto numbers = static_cast<double>(count());
        if (is_scaled()) {
            const auto integers = static_cast<double>(static_cast<std::int64_t>(low_));
            return decimals() / numbers * scale + integers / numbers;
        }
        if (is_mixed() || is_exact(wide())) return sum() / numbers;
        const auto divisor = static_cast<WideInteger>(count());
        return static_cast<double>(wide() / divisor) +
               static_cast<double>(wide() % divisor) / numbers;
    }

  private:
    static constexpr std::uint64_t mixed = 1;
    static constexpr std::uint64_t scaled = 2;
    static constexpr std::uint64_t flags = mixed | scaled;
    static constexpr std::uint64_t one = flags + 1;
    static constexpr double scale = 0x1p64;

    [[nodiscard]] bool is_mixed() const noexcept { return (count_ & mixed) != 0; }
    [[nodiscard]] bool is_scaled() const noexcept { return (count_ & scaled) != 0; }
    [[nodiscard]] double decimals() const noexcept { return std::bit_cast<double>(high_); }
    [[nodiscard]] static bool is_exact(WideInteger integer) noexcept {
        constexpr WideInteger limit = WideInteger{1} << 53;
        return integer <= limit && integer >= -limit;
    }

    [[gnu::always_inline]] void add_decimal(double decimal) noexcept {
        const double sum = decimals() + decimal;
        if ((count_ & flags) == mixed && std::isfinite(sum)) [[likely]] {
            count_ += one;
            high_ = std::bit_cast<std::uint64_t>(sum);
        } else if (count_ == 0) {
            count_ = one | mixed;
            high_ = std::bit_cast<std::uint64_t>(decimal);
        } else {
            add_unlike_decimal(decimal);
        }
    }
    [[gnu::noinline]] void add_unlike_decimal(double decimal) noexcept {
        count_ += one;
        if (!is_mixed()) mix();
        add_decimals(decimal, false);
    }
    [[gnu::always_inline]] void add_integer(WideInteger integer) noexcept {
        if (is_mixed()) [[unlikely]]
            return add_to_mixed(integer);
        add_words(static_cast<std::uint64_t>(integer), static_cast<std::uint64_t>(integer >> 64));
    }
    [[gnu::always_inline]] void add_words(std::uint64_t low, std::uint64_t high) noexcept {
        const bool carries = __builtin_add_overflow(low_, low, &low_);
        high_ += high + static_cast<std::uint64_t>(carries);
    }
    /// One of both is mixed, and none is empty.
    [[gnu::always_inline]] void add_mixed(const NumberTotal& other) noexcept {
        const double decimals_sum = decimals() + other.decimals();
        std::int64_t integers = 0;
        const bool is_usual =
            (count_ & flags) == mixed && (other.count_ & flags) == mixed &&
            !__builtin_add_overflow(static_cast<std::int64_t>(low_),
                                    static_cast<std::int64_t>(other.low_), &integers);
        if (is_usual && std::isfinite(decimals_sum)) [[likely]] {
            count_ += other.count_ & ~flags;
            low_ = static_cast<std::uint64_t>(integers);
            high_ = std::bit_cast<std::uint64_t>(decimals_sum);
        } else {
            add_unlike(other);
        }
    }
    [[gnu::noinline]] void add_unlike(const NumberTotal& other) noexcept {
        count_ += other.count_ & ~flags;
        if (!other.is_mixed()) return add_integer(other.wide());
        if (!is_mixed()) mix();
        add_to_mixed(static_cast<std::int64_t>(other.low_));
        add_decimals(other.decimals(), other.is_scaled());
    }
    [[gnu::noinline]] void add_to_mixed(WideInteger integer) noexcept {
        const WideInteger sum = static_cast<std::int64_t>(low_) + integer;
        const auto narrow = static_cast<std::int64_t>(sum);
        const bool has_room = narrow == sum;
        low_ = has_room ? static_cast<std::uint64_t>(narrow) : 0;
        if (!has_room) add_decimals(static_cast<double>(sum), false);
    }
    void add_decimals(double decimal, bool is_decimal_scaled) noexcept {
        const double sum = decimals() + decimal;
        if (is_decimal_scaled == is_scaled() && std::isfinite(sum)) [[likely]] {
            high_ = std::bit_cast<std::uint64_t>(sum);
        } else {
            add_scaled(decimal, is_decimal_scaled);
        }
    }
    [[gnu::noinline]] void add_scaled(double decimal, bool is_decimal_scaled) noexcept {
        const double before = is_scaled() ? decimals() : decimals() / scale;
        high_ =
            std::bit_cast<std::uint64_t>(before + (is_decimal_scaled ? decimal : decimal / scale));
        count_ |= scaled;
    }
    /// The first decimal comes.
    [[gnu::noinline]] void mix() noexcept {
        const WideInteger integers = wide();
        low_ = high_ = 0;
        count_ |= mixed;
        add_to_mixed(integers);
    }

    std::uint64_t low_ = 0;    // the lower half of the sum; of a mixed one that of the integers
    std::uint64_t high_ = 0;   // the upper half; of a mixed one the bits of that of the decimals
    std::uint64_t count_ = 0;  // in units of `one`, with the flags below
};
static_assert(sizeof(NumberTotal) == 24);

/// The smallest or largest number. Of an integer and a decimal that are the same, the integer.
class [[gnu::may_alias]] NumberExtreme {
  public:
    [[gnu::always_inline]] void take(const TableNumber& number, bool is_minimum) noexcept {
        if (is_empty() || replaces(number, is_minimum)) {
            value_ = number.value;
            // Of both zeros the positive one.
            if (number.kind == ValueKind::decimal) value_.decimal += 0.0;
            kind_ = static_cast<std::uint64_t>(number.kind);
        }
    }
    void take(const NumberExtreme& other, bool is_minimum) noexcept {
        if (!other.is_empty()) take(other.number(), is_minimum);
    }
    [[nodiscard]] bool is_empty() const noexcept {
        return kind_ == static_cast<std::uint64_t>(ValueKind::missing);
    }
    [[nodiscard]] TableNumber number() const noexcept {
        return {value_, static_cast<ValueKind>(kind_)};
    }

  private:
    [[nodiscard]] bool replaces(const TableNumber& number, bool is_minimum) const noexcept {
        const int order = compare(number, this->number());
        if (order != 0) return is_minimum == (order < 0);
        return number.kind != ValueKind::decimal;
    }

    TableValue value_;
    std::uint64_t kind_;
};
static_assert(sizeof(NumberExtreme) == 16);

/// The moments of numbers as their distances from a base: the first number, where it is an integer
/// so large that the mean of its neighbours is rounded; else 0. Distances of integers are exact up
/// to 2^53, and rounded beyond, where so small a part of them is lost that the variance does not
/// show it.
class [[gnu::may_alias]] NumberMoments {
  public:
    void add(const TableNumber& number) noexcept {
        if (moments_.count() == 0) base_ = base_of(number);
        moments_.add(distance_of(number));
    }
    void add(const NumberMoments& other) noexcept {
        if (moments_.count() == 0) base_ = other.base_;
        window::Moments moved = other.moments_;
        if (other.base_ != base_) {
            moved.shift(static_cast<double>(static_cast<WideInteger>(other.base_) -
                                            static_cast<WideInteger>(base_)));
        }
        moments_.add(moved);
    }
    [[nodiscard]] const window::Moments& moments() const noexcept { return moments_; }

  private:
    [[nodiscard]] static double base_of(const TableNumber& number) noexcept {
        constexpr double exact_max = 0x1p20;  // a mean below has 32 bits of fraction
        const double nearest = decimal_of(number);
        const bool is_large = number.kind != ValueKind::decimal && std::abs(nearest) > exact_max;
        return is_large ? nearest : 0;
    }
    [[nodiscard]] double distance_of(const TableNumber& number) const noexcept {
        if (base_ == 0) return decimal_of(number);
        if (number.kind == ValueKind::decimal) return number.value.decimal - base_;
        return static_cast<double>(integer_of(number) - static_cast<WideInteger>(base_));
    }

    double base_ = 0;  // a whole number
    window::Moments moments_;
};
static_assert(sizeof(NumberMoments) == 32);

}  // namespace strid::tool
