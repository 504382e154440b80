// SPDX-License-Identifier: Apache-2.0
//
// Mean and variance of numbers of any size. Both are right wherever they are representable, also
// where the sum or the squares are not: numbers that are huge or tiny are kept scaled by a power of
// two, which rounds nothing. Plain bytes, and empty where all are zero; parts combine in any order
// to the same but for rounding.
//
// Threads: as any state of an aggregate.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace strid::window {

/// The count of numbers, their mean and the sum of their squared distances from it (Welford;
/// combined by Chan, Golub and LeVeque's formula, which does not cancel where the mean is large).
/// Invariant: all numbers are kept times `factors[level()]`, the level being that of the largest.
class Moments {
  public:
    Moments() = default;
    /// Of one number.
    explicit Moments(double value) noexcept
        : mean_(value * factors[level_of(value)]), count_(one | level_of(value)) {}

    /// Adds a number.
    void add(double value) noexcept {
        raise(level_of(value));
        count_ += one;
        const double scaled = value * factors[level()];
        const double distance = scaled - mean_;
        mean_ += distance / static_cast<double>(count());
        squares_ += distance * (scaled - mean_);
    }
    /// Adds the numbers that `other` is of. Rounding depends on the order.
    void add(Moments other) noexcept {
        if (other.count() == 0) return;
        if (count() == 0) {
            *this = other;
            return;
        }
        raise(other.level());
        other.raise(level());
        const auto before = static_cast<double>(count());
        count_ += other.count_ - other.level();
        const double share = static_cast<double>(other.count()) / static_cast<double>(count());
        const double distance = other.mean_ - mean_;
        mean_ += distance * share;
        squares_ += other.squares_ + distance * distance * share * before;
    }

    /// Adds the same to each number.
    void shift(double distance) noexcept {
        raise(level_of(distance));
        mean_ += distance * factors[level()];
    }

    /// How many numbers.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_ / one; }
    /// Their mean.
    [[nodiscard]] double mean() const noexcept { return mean_ / factors[level()]; }
    /// The sample variance: NaN for fewer than two numbers, infinite beyond the largest double.
    [[nodiscard]] double variance() const noexcept {
        return scaled_variance() / factors[level()] / factors[level()];
    }
    /// The square root of the variance.
    [[nodiscard]] double deviation() const noexcept {
        return std::sqrt(scaled_variance()) / factors[level()];
    }
    friend bool operator==(const Moments&, const Moments&) = default;

  private:
    static constexpr std::uint64_t one = 4;  // below it the level: tiny, usual, huge
    static constexpr std::array<double, 3> factors{0x1p600, 1, 0x1p-600};

    [[nodiscard]] static std::uint64_t level_of(double value) noexcept {
        const double size = std::abs(value);
        return static_cast<std::uint64_t>(size >= 0x1p-400) +
               static_cast<std::uint64_t>(size > 0x1p450);
    }
    [[nodiscard]] std::uint64_t level() const noexcept { return count_ % one; }

    void raise(std::uint64_t level) noexcept {
        if (level <= this->level()) [[likely]]
            return;
        for (; this->level() != level; ++count_) {
            mean_ *= 0x1p-600;
            squares_ = squares_ * 0x1p-600 * 0x1p-600;
        }
    }
    [[nodiscard]] double scaled_variance() const noexcept {
        return count() < 2 ? std::numeric_limits<double>::quiet_NaN()
                           : squares_ / static_cast<double>(count() - 1);
    }

    double mean_ = 0;
    double squares_ = 0;
    std::uint64_t count_ = 0;  // in units of `one`
};

}  // namespace strid::window
