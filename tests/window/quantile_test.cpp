// SPDX-License-Identifier: Apache-2.0
//
// Quantiles against all values sorted, with linear interpolation between neighbours (numpy's
// default): exact for a few hundred values, and above that by how far the rank is off.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/base/error.hpp>
#include <strid/engine/window/aggregates/add_record.hpp>
#include <strid/window/aggregates/quantile.hpp>

namespace strid::window {
namespace {

struct Reading {
    double value;
};
constexpr double shares[] = {0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1};
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double interpolated(std::vector<double> values, double q) {
    std::erase_if(values, [](double value) { return std::isnan(value); });
    if (values.empty()) return nan;
    std::sort(values.begin(), values.end());
    const double rank = q * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(rank);
    const auto above = std::min(below + 1, values.size() - 1);
    return values[below] + (rank - static_cast<double>(below)) * (values[above] - values[below]);
}

/// Of `parts` states of about as many values each, combined.
TDigest digest_of(const std::vector<double>& values, std::size_t parts) {
    const auto aggregate = median(field<&Reading::value>);
    TDigest all = aggregate.identity();
    for (std::size_t part = 0; part != parts; ++part) {
        TDigest state = aggregate.identity();
        for (std::size_t i = part; i < values.size(); i += parts) {
            add_record(aggregate, state, Reading{values[i]});
        }
        all = aggregate.combine(all, state);
    }
    return all;
}

RC_GTEST_PROP(Quantile, IsExactForFewValues, (const std::vector<std::int16_t>& numbers)) {
    std::vector<double> values(numbers.begin(), numbers.end());
    if (values.size() > 3) values[values.size() / 2] = nan;
    const auto parts = *rc::gen::inRange<std::size_t>(1, 5);
    const TDigest digest = digest_of(values, parts);
    for (const double q : shares) {
        const double expected = interpolated(values, q);
        const double got = quantile(field<&Reading::value>, q).lower(digest);
        const bool equal = std::isnan(expected) ? std::isnan(got) : std::abs(got - expected) < 1e-9;
        RC_ASSERT(equal);
    }
}

TEST(Quantile, IsExactUpToTheLimit) {
    std::mt19937_64 random{1};
    for (const std::size_t count : {1U, 2U, 100U, 511U, 512U}) {
        std::vector<double> values;
        for (std::size_t i = 0; i != count; ++i) {
            values.push_back(static_cast<double>(random() % 100'000) / 8);
        }
        for (const std::size_t parts : {1U, 7U}) {
            for (const double q : shares) {
                EXPECT_NEAR(quantile(field<&Reading::value>, q).lower(digest_of(values, parts)),
                            interpolated(values, q), 1e-9);
            }
        }
    }
}

/// How far the rank of the answer is from q, as a share of all.
double rank_error(const std::vector<double>& sorted, double answer, double q) {
    const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), answer);
    const auto count = static_cast<double>(sorted.size() - 1);
    const auto share = [&](auto at) { return static_cast<double>(at - sorted.begin()) / count; };
    const double from = share(low) - 1 / count;
    if (q < from) return from - q;
    return std::max(0.0, q - share(high));
}

TEST(Quantile, OfManyValuesIsNearInRank) {
    constexpr std::size_t count = 200'000;
    std::mt19937_64 random{2};
    std::exponential_distribution<double> exponential{1};
    const std::vector<std::function<double(std::size_t)>> shapes{
        [&](std::size_t) { return static_cast<double>(random() % 1'000'000'007); },
        [&](std::size_t) { return exponential(random); },
        [&](std::size_t) { return static_cast<double>(random() % 10); },
        [](std::size_t i) { return static_cast<double>(i); },
        [](std::size_t i) { return -static_cast<double>(i); },
        [](std::size_t) { return 5.0; },
    };
    for (std::size_t shape = 0; shape != shapes.size(); ++shape) {
        std::vector<double> values;
        for (std::size_t i = 0; i != count; ++i) values.push_back(shapes[shape](i));
        std::vector<double> sorted = values;
        std::sort(sorted.begin(), sorted.end());
        for (const std::size_t parts : {1U, 2U, 50U}) {
            const TDigest digest = digest_of(values, parts);
            ASSERT_EQ(digest.count(), count);
            for (const double q : shares) {
                const double answer = digest.quantile(q);
                const double bound = 4 * q * (1 - q) / TDigest::compression + 2.0 / count;
                EXPECT_LE(rank_error(sorted, answer, q), bound)
                    << "shape " << shape << ", " << parts << " parts, q " << q;
            }
        }
    }
}

TEST(Quantile, SeveralAreThoseOfEach) {
    std::vector<double> values;
    for (int i = 0; i != 5'000; ++i) values.push_back(std::sin(i));
    const TDigest digest = digest_of(values, 3);
    const auto all = quantiles(field<&Reading::value>, 0.99, 0, 0.5).lower(digest);
    EXPECT_EQ(all, (std::array{digest.quantile(0.99), digest.quantile(0), digest.quantile(0.5)}));
}

TEST(Quantile, SharesOutsideOfZeroToOneAreRefused) {
    for (const double q : {-0.01, 1.01, 99.0, nan}) {
        EXPECT_THROW((void)quantile(field<&Reading::value>, q), Error);
        EXPECT_THROW((void)quantiles(field<&Reading::value>, 0.5, q), Error);
    }
}

}  // namespace
}  // namespace strid::window
