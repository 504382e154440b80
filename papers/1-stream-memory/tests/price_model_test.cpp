// SPDX-License-Identifier: Apache-2.0
//
// The price model against what needs no iteration: for a polynomial the least squares solution is
// known in closed form, here from a QR decomposition; aggregation against a table of intervals.
#include <Eigen/Dense>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <trading/price_model.hpp>

#include "plain_loop.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// The value at `interval` of the least squares polynomial.
double closed_form(const std::vector<PricePoint>& points, std::size_t degree, double interval) {
    const auto first = static_cast<double>(points.front().interval);
    const auto span = static_cast<double>(points.back().interval) - first + 1;
    const auto rows = static_cast<Eigen::Index>(points.size());
    const auto columns = static_cast<Eigen::Index>(degree + 1);
    Eigen::MatrixXd powers(rows, columns);
    Eigen::VectorXd prices(rows);
    for (Eigen::Index row = 0; row < rows; ++row) {
        const PricePoint& point = points[static_cast<std::size_t>(row)];
        const double x = (static_cast<double>(point.interval) - first) / span;
        for (Eigen::Index power = 0; power < columns; ++power) {
            powers(row, power) = std::pow(x, static_cast<double>(power));
        }
        prices[row] = point.price;
    }
    const Eigen::VectorXd solution = powers.colPivHouseholderQr().solve(prices);
    const double x = (interval - first) / span;
    double value = 0;
    for (Eigen::Index power = 0; power < columns; ++power) {
        value += solution[power] * std::pow(x, static_cast<double>(power));
    }
    return value;
}

std::vector<PricePoint> random_points(std::uint64_t seed, std::size_t count) {
    std::mt19937_64 random{seed};
    std::vector<PricePoint> points;
    std::int64_t interval = static_cast<std::int64_t>(random() % 1'000'000) - 500'000;
    double price = 10'000;
    for (std::size_t i = 0; i < count; ++i) {
        interval += 1 + static_cast<std::int64_t>(random() % 20);
        price += static_cast<double>(random() % 7) - 3;
        points.push_back({interval, price});
    }
    return points;
}

TEST(PriceModel, FitsAsTheClosedFormDoes) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const std::size_t count = 4 + seed * 25;
        const auto points = random_points(seed, count);
        for (const std::size_t degree : {1UL, 2UL, 3UL}) {
            const Polynomial fitted = fit(points, degree);
            const auto last = static_cast<double>(points.back().interval);
            for (const double at : {static_cast<double>(points.front().interval), last, last + 1}) {
                EXPECT_NEAR(fitted.at(at), closed_form(points, degree, at), 1e-4)
                    << "seed " << seed << ", degree " << degree;
            }
        }
    }
}

TEST(PriceModel, FindsThePolynomialThatPricesFollow) {
    std::vector<PricePoint> points;
    const auto price = [](double t) { return 500 + 3 * t - 0.02 * t * t + 1e-4 * t * t * t; };
    for (std::int64_t interval = 0; interval < 100; interval += 1 + interval % 3) {
        points.push_back({interval, price(static_cast<double>(interval))});
    }
    const Polynomial fitted = fit(points, 3);
    for (const double at : {0.0, 50.5, 99.0, 110.0}) EXPECT_NEAR(fitted.at(at), price(at), 1e-6);
}

TEST(PriceModel, TakesFewPoints) {
    EXPECT_EQ(fit(std::vector<PricePoint>{{7, 123.5}}, 3).at(8), 123.5);
    const Polynomial line = fit(std::vector<PricePoint>{{7, 100}, {9, 104}}, 3);
    EXPECT_NEAR(line.at(10), 106, 1e-9);
    EXPECT_NEAR(fit(random_points(1, 50), 0).at(0), closed_form(random_points(1, 50), 0, 0), 1e-9);
}

TEST(PriceModel, AggregatesQuotesOfAnInterval) {
    for (std::uint64_t seed = 1; seed < 5; ++seed) {
        auto quotes = some_quotes(2'000, 3, seed);
        // Times before zero too.
        for (Quote& quote : quotes) quote.time = quote.time - quotes[1'000].time.ns() * 1ns;
        struct Sums {
            double value = 0;
            double weight = 0;
        };
        for (const Duration resolution : {Duration{100us}, Duration{1ms}, Duration{7ms}}) {
            std::map<std::int64_t, Sums> intervals;
            std::int64_t volume = 0;
            for (const Quote& quote : quotes) {
                const auto number = static_cast<std::int64_t>(
                    std::floor(static_cast<long double>(quote.time.ns()) /
                               static_cast<long double>(resolution.count())));
                const auto weight = static_cast<double>(quote.bid_volume + quote.ask_volume);
                const double middle = static_cast<double>(quote.bid + quote.ask) / 2;
                intervals[number].value += middle * weight;
                intervals[number].weight += weight;
                volume += quote.bid_volume + quote.ask_volume;
            }
            const Aggregated aggregated = aggregate(quotes, resolution);
            EXPECT_EQ(aggregated.volume, volume);
            ASSERT_EQ(aggregated.points.size(), intervals.size());
            auto expected = intervals.begin();
            for (const PricePoint& point : aggregated.points) {
                EXPECT_EQ(point.interval, expected->first);
                EXPECT_DOUBLE_EQ(point.price, expected->second.value / expected->second.weight);
                ++expected;
            }
        }
    }
}

TEST(PriceModel, ForecastsTheNextInterval) {
    const auto quotes = some_quotes(1'000, 1);
    const PriceModel model;
    const Forecast forecast = model(quotes);
    const Aggregated aggregated = aggregate(quotes, 1ms);
    const auto next = static_cast<double>(aggregated.points.back().interval + 1);
    EXPECT_NEAR(forecast.price, closed_form(aggregated.points, 3, next), 1e-4);
    EXPECT_EQ(forecast.volume, aggregated.volume);
    EXPECT_EQ(forecast.number, 999U);
}

}  // namespace
}  // namespace strid
