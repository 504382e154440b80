// SPDX-License-Identifier: Apache-2.0
#include "price_model.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <unsupported/Eigen/NonLinearOptimization>

#include <strid/base/error.hpp>

namespace strid::apps::trading {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The problem for Eigen's Levenberg-Marquardt: distances and their derivatives.
struct Distances {
    const VectorXd& x;
    const VectorXd& prices;
    std::size_t coefficients;

    [[nodiscard]] int inputs() const { return static_cast<int>(coefficients); }
    [[nodiscard]] int values() const { return static_cast<int>(x.size()); }

    int operator()(const VectorXd& guess, VectorXd& distances) const {
        distances.setConstant(guess[guess.size() - 1]);
        for (Index power = guess.size() - 2; power >= 0; --power) {
            distances.array() = distances.array() * x.array() + guess[power];
        }
        distances -= prices;
        return 0;
    }
    int df(const VectorXd& guess, MatrixXd& jacobian) const {
        jacobian.col(0).setOnes();
        for (Index power = 1; power < guess.size(); ++power) {
            jacobian.col(power) = jacobian.col(power - 1).cwiseProduct(x);
        }
        return 0;
    }
};

// More than 64 bits: prices of 10^15 ticks times volumes of 10^12, added up.
__extension__ using Wide = __int128;

/// The begin of an interval, at the most the latest time there is.
EventTime begin_of(std::int64_t interval, Duration resolution) {
    const std::int64_t latest = EventTime::latest().ns();
    if (interval > latest / resolution.count()) return EventTime::latest();
    return EventTime::of_ns(interval * resolution.count());
}

}  // namespace

Aggregated aggregate(std::span<const Quote> quotes, Duration resolution) {
    Aggregated aggregated;
    aggregated.points.reserve(quotes.size());
    const auto interval_of = [resolution](const Quote& quote) {
        const std::int64_t ns = quote.time.ns();
        const std::int64_t length = resolution.count();
        return (ns >= 0 ? ns : ns - length + 1) / length;
    };
    for (auto first = quotes.begin(); first != quotes.end();) {
        const std::int64_t interval = interval_of(*first);
        std::int64_t volume = 0;
        Wide value_doubled = 0;
        auto last = first;
        for (; last != quotes.end() && interval_of(*last) == interval; ++last) {
            const std::int64_t weight = last->bid_volume + last->ask_volume;
            volume += weight;
            value_doubled += Wide{last->bid + last->ask} * weight;
        }
        aggregated.volume += volume;
        aggregated.points.push_back(
            {interval, static_cast<double>(value_doubled) / (2.0 * static_cast<double>(volume))});
        first = last;
    }
    return aggregated;
}

double Polynomial::at(double interval) const noexcept {
    const double x = (interval - middle) / scale;
    double value = 0;
    for (auto c = coefficients.rbegin(); c != coefficients.rend(); ++c) value = value * x + *c;
    return value;
}

Polynomial fit(std::span<const PricePoint> points, std::size_t degree) {
    const auto first = static_cast<double>(points.front().interval);
    const auto last = static_cast<double>(points.back().interval);
    Polynomial polynomial;
    polynomial.middle = (first + last) / 2;
    polynomial.scale = std::max((last - first) / 2, 1.0);  // x lies in [-1, 1]

    const auto size = static_cast<Index>(points.size());
    VectorXd x(size);
    VectorXd prices(size);
    for (Index at = 0; at < size; ++at) {
        const PricePoint& point = points[static_cast<std::size_t>(at)];
        x[at] = (static_cast<double>(point.interval) - polynomial.middle) / polynomial.scale;
        prices[at] = point.price;
    }
    const std::size_t coefficients = std::min(degree + 1, points.size());
    VectorXd guess = VectorXd::Zero(static_cast<Index>(coefficients));
    guess[0] = prices.mean();
    if (coefficients == 1) {  // the mean is the answer
        polynomial.coefficients = {guess[0]};
        return polynomial;
    }

    Distances distances{x, prices, coefficients};
    Eigen::LevenbergMarquardt<Distances> method(distances);
    using enum Eigen::LevenbergMarquardtSpace::Status;
    const auto status = method.minimize(guess);
    if (status == ImproperInputParameters || status == TooManyFunctionEvaluation) {
        throw Error("the price model does not converge");
    }
    polynomial.coefficients.assign(guess.begin(), guess.end());
    return polynomial;
}

Forecast PriceModel::operator()(std::span<const Quote> quotes) const {
    Aggregated aggregated = aggregate(quotes, resolution);
    // Counted from the first interval: numbers since 1970 of short ones are no exact doubles.
    const std::int64_t first = aggregated.points.front().interval;
    for (PricePoint& point : aggregated.points) point.interval -= first;
    const Polynomial polynomial = fit(aggregated.points, degree);
    const std::int64_t next = aggregated.points.back().interval + 1;
    return {polynomial.at(static_cast<double>(next)), aggregated.volume, quotes.back().number,
            begin_of(first + next, resolution)};
}

}  // namespace strid::apps::trading
