// SPDX-License-Identifier: Apache-2.0
//
// Means and variances of numbers of any size. The expected values come from numbers of a usual
// size, times a power of two, which rounds nothing.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/window/aggregates/add_record.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/quantile.hpp>

namespace strid::window {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Reading {
    double value;
};

template <class A>
double result_of(const A& aggregate, const std::vector<double>& values, std::size_t part) {
    auto total = aggregate.identity();
    for (std::size_t begin = 0; begin < values.size(); begin += part) {
        auto state = aggregate.identity();
        for (std::size_t i = begin; i < std::min(begin + part, values.size()); ++i) {
            add_record(aggregate, state, Reading{values[i]});
        }
        total = aggregate.combine(total, state);
    }
    return aggregate.lower(total);
}

void expect_near(double got, double expected) {
    if (std::isinf(expected)) {
        EXPECT_EQ(got, expected);
    } else {
        EXPECT_NEAR(got, expected, std::abs(expected) * 1e-12 + 1e-322);
    }
}

TEST(Moments, AreRightWhereTheyCanBeWritten) {
    std::mt19937_64 random{7};
    std::vector<double> usual;
    for (int i = 0; i != 50; ++i) usual.push_back(static_cast<double>(random() % 1000) / 8 - 30);
    const double mean_usual = result_of(mean<&Reading::value>(), usual, 50);
    const double variance_usual = result_of(variance<&Reading::value>(), usual, 50);
    for (const int power :
         {0, -1060, -1000, -700, -520, -420, -390, 300, 440, 480, 520, 900, 1016}) {
        std::vector<double> values;
        for (const double value : usual) values.push_back(std::ldexp(value, power));
        for (const std::size_t part : {1U, 7U, 50U}) {
            expect_near(result_of(mean<&Reading::value>(), values, part),
                        std::ldexp(mean_usual, power));
            if (power == -1060) continue;  // the numbers themselves are rounded
            expect_near(result_of(variance<&Reading::value>(), values, part),
                        std::ldexp(std::ldexp(variance_usual, power), power));
            expect_near(result_of(standard_deviation<&Reading::value>(), values, part),
                        std::ldexp(std::sqrt(variance_usual), power));
        }
    }
}

TEST(Moments, OfTheLargestNumbers) {
    const double largest = std::numeric_limits<double>::max();
    const std::vector<double> same(9, largest);
    expect_near(result_of(mean<&Reading::value>(), same, 1), largest);
    EXPECT_EQ(result_of(variance<&Reading::value>(), same, 1), 0);
    const std::vector<double> apart = {largest, -largest, largest / 2, 0, 1};
    // By fractions: the mean is largest / 10; the variance is beyond what can be written, its root
    // is largest * sqrt((0.81 + 1.21 + 0.16 + 2 * 0.01) / 4).
    expect_near(result_of(mean<&Reading::value>(), apart, 1), largest / 10);
    EXPECT_EQ(result_of(variance<&Reading::value>(), apart, 2), infinity);
    expect_near(result_of(standard_deviation<&Reading::value>(), apart, 2),
                largest * std::sqrt(2.2 / 4));
    EXPECT_TRUE(std::isnan(result_of(mean<&Reading::value>(), {infinity, -infinity}, 1)));
    EXPECT_EQ(result_of(mean<&Reading::value>(), {infinity, largest, 1}, 1), infinity);
}

TEST(Moments, QuantilesBetweenTheLargestNumbers) {
    const double largest = std::numeric_limits<double>::max();
    EXPECT_EQ(result_of(median(field<&Reading::value>), {-largest, largest}, 2), 0);
    EXPECT_EQ(result_of(quantile(field<&Reading::value>, 1), {-infinity, 1}, 2), 1);
}

}  // namespace
}  // namespace strid::window
