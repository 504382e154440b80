// SPDX-License-Identifier: Apache-2.0
//
// The function that the trading operator applies to a window (paper 1, section 5): quotes are
// aggregated at a resolution of a millisecond, a polynomial of time is fitted to the prices by the
// Levenberg-Marquardt method, and its value one interval on is the forecast.
//
// Each call allocates its points and matrices with the standard allocator, as the paper's does:
// that is what a general-purpose allocator can speed up there.
//
// Threads: a model is a plain value; calls share nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <strid/base/time.hpp>

#include "quote.hpp"

namespace strid::apps::trading {

/// The aggregate of the quotes of one interval.
struct PricePoint {
    std::int64_t interval;  ///< number of the interval: its begin divided by the resolution
    double price;           ///< middle of bid and ask, weighted by their volumes, in ticks
};

struct Aggregated {
    std::vector<PricePoint> points;  ///< one for each interval that has quotes, in order
    std::int64_t volume = 0;         ///< of all quotes
};

/// The quotes have to be in the order of their times, their volumes positive; sums of prices times
/// volumes are exact. O(quotes).
[[nodiscard]] Aggregated aggregate(std::span<const Quote> quotes, Duration resolution);

/// A polynomial of the interval's number, around the middle of what it was fitted to.
struct Polynomial {
    std::vector<double> coefficients;  ///< of x^0, x^1, ...; x = (interval - middle) / scale
    double middle = 0;
    double scale = 1;

    [[nodiscard]] double at(double interval) const noexcept;
};

/// The polynomial of at most `degree` with the least sum of squared distances from the points, of
/// which there is at least one. Fewer points than coefficients lower the degree. Throws Error where
/// the method does not converge.
[[nodiscard]] Polynomial fit(std::span<const PricePoint> points, std::size_t degree);

struct PriceModel {
    Duration resolution = std::chrono::milliseconds{1};
    std::size_t degree = 3;  ///< 0: the mean price, which needs no fit

    [[nodiscard]] Forecast operator()(std::span<const Quote> quotes) const;
};

}  // namespace strid::apps::trading
