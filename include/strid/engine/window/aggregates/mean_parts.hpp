// SPDX-License-Identifier: Apache-2.0
//
// The mean of numbers of any size, also where their sum is not representable. Plain bytes, and
// empty where all are zero.
//
// Threads: as any state of an aggregate.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace strid::window {

/// The count and the sum of numbers, for a mean. A sum beyond the range of a double is kept scaled
/// down by 2^64.
class MeanParts {
  public:
    MeanParts() = default;
    explicit MeanParts(double value) noexcept : sum_(value), count_(one) {}

    void add(const MeanParts& other) noexcept {
        const double sum = sum_ + other.sum_;
        const bool any_scaled = ((count_ | other.count_) & scaled) != 0;
        if (!any_scaled && std::isfinite(sum)) [[likely]] {
            sum_ = sum;
        } else {
            sum_ = scaled_sum() + other.scaled_sum();
            count_ |= scaled;
        }
        count_ += other.count_ & ~scaled;
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_ / one; }
    /// NaN if there are none.
    [[nodiscard]] double mean() const noexcept {
        if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
        const double mean = sum_ / static_cast<double>(count());
        return is_scaled() ? mean * scale : mean;
    }
    friend bool operator==(const MeanParts&, const MeanParts&) = default;

  private:
    static constexpr std::uint64_t scaled = 1;
    static constexpr std::uint64_t one = 2;
    static constexpr double scale = 0x1p64;

    [[nodiscard]] bool is_scaled() const noexcept { return (count_ & scaled) != 0; }
    [[nodiscard]] double scaled_sum() const noexcept { return is_scaled() ? sum_ : sum_ / scale; }

    double sum_ = 0;
    std::uint64_t count_ = 0;  // in units of `one`, with the flag below
};

}  // namespace strid::window
