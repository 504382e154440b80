// SPDX-License-Identifier: Apache-2.0
//
// The middle of several measurements, their quantiles and how far they lie apart. A round of a
// benchmark runs every contestant once, so that a disturbance meets all alike: contestants are
// compared round by round. Plain functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace strid::bench {

/// Median and quartiles.
struct Spread {
    double median;
    double low;
    double high;
};

/// Of at least one value. O(n log n).
[[nodiscard]] inline Spread spread_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t size = values.size();
    return {values[size / 2], values[size / 4], values[size - 1 - size / 4]};
}
[[nodiscard]] inline double median(std::vector<double> values) {
    return spread_of(std::move(values)).median;
}

/// The value of the rank that is nearest to the share `q`, from 0 to 1, of ascending values, of
/// which there is at least one. O(1).
template <class Values>
[[nodiscard]] auto quantile_of_sorted(const Values& sorted, double q) {
    return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
}
/// The same of values in any order. O(n log n).
template <class T>
[[nodiscard]] T quantile(std::vector<T> values, double q) {
    std::sort(values.begin(), values.end());
    return quantile_of_sorted(values, q);
}

/// These over those of the same round. O(n).
[[nodiscard]] inline std::vector<double> ratios(const std::vector<double>& these,
                                                const std::vector<double>& those) {
    std::vector<double> all;
    for (std::size_t i = 0; i < these.size(); ++i) all.push_back(these[i] / those[i]);
    return all;
}

}  // namespace strid::bench
