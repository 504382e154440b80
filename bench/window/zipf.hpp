// SPDX-License-Identifier: Apache-2.0
//
// Keys of which few are frequent, by rejection-inversion (Hörmann and Derflinger:
// "Rejection-inversion to generate variates from monotone discrete distributions", ACM Transactions
// on Modeling and Computer Simulation 1996). A plain value, no threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace strid::bench {

/// k of 0 to count - 1 with a probability proportional to (k + 1)^-exponent; the exponent is above
/// 0 and not 1. O(1) a draw, some 60 ns.
class Zipf {
  public:
    Zipf(std::uint32_t count, double exponent)
        : count_(count),
          exponent_(exponent),
          at_begin_(integral(1.5) - 1),
          at_end_(integral(count + 0.5)),
          surely_(2 - inverse(integral(2.5) - std::pow(2.0, -exponent))) {}

    [[nodiscard]] std::uint32_t operator()(std::mt19937_64& random) const {
        for (;;) {
            const double share = static_cast<double>(random() >> 11) * 0x1p-53;
            const double area = at_end_ + share * (at_begin_ - at_end_);
            const double x = inverse(area);
            const double k = std::clamp(std::floor(x + 0.5), 1.0, static_cast<double>(count_));
            if (k - x <= surely_ || area >= integral(k + 0.5) - std::pow(k, -exponent_)) {
                return static_cast<std::uint32_t>(k) - 1;
            }
        }
    }

  private:
    /// Of x^-exponent, from 1 on.
    [[nodiscard]] double integral(double x) const {
        return (std::pow(x, 1 - exponent_) - 1) / (1 - exponent_);
    }
    [[nodiscard]] double inverse(double area) const {
        return std::pow(1 + area * (1 - exponent_), 1 / (1 - exponent_));
    }

    std::uint32_t count_;
    double exponent_;
    double at_begin_;
    double at_end_;
    double surely_;
};

}  // namespace strid::bench
