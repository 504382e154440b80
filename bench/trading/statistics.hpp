// SPDX-License-Identifier: Apache-2.0
//
// The middle of several measurements and how far they lie apart. Plain functions.
#pragma once

#include <algorithm>
#include <vector>

namespace strid::bench {

/// Median and quartiles.
struct Spread {
    double median;
    double low;
    double high;
};

/// Of at least one value.
[[nodiscard]] inline Spread spread_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t size = values.size();
    return {values[size / 2], values[size / 4], values[size - 1 - size / 4]};
}

}  // namespace strid::bench
