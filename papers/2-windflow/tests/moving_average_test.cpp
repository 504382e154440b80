// SPDX-License-Identifier: Apache-2.0
//
// The running mean of spike detection against one that is computed afresh, in more digits.
#include "papers/2-windflow/spike-detection/moving_average.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace strid::apps::spike_detection {
namespace {

long double mean_of_last(const std::vector<double>& values, std::size_t end, std::size_t window) {
    const std::size_t begin = end < window ? 0 : end - window;
    long double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += values[i];
    return sum / static_cast<long double>(end - begin);
}

void expect_means(const std::vector<double>& values, std::size_t window, std::size_t step) {
    MovingAverage average(window);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Scored scored = average({7, values[i]});
        EXPECT_EQ(scored.device, 7U);
        EXPECT_EQ(scored.value, values[i]);
        if (i % step != 0) continue;
        const auto expected = static_cast<double>(mean_of_last(values, i + 1, window));
        ASSERT_NEAR(scored.mean, expected, std::abs(expected) * 1e-12) << "reading " << i;
    }
}

TEST(MovingAverage, IsTheMeanOfTheLastValues) {
    std::mt19937_64 random{3};
    std::uniform_real_distribution<double> value{0.5, 100};
    for (const std::size_t window : {1U, 2U, 3U, 7U, 1000U}) {
        std::vector<double> values(5000);
        for (double& v : values) v = value(random);
        expect_means(values, window, 1);
    }
}

TEST(MovingAverage, DoesNotDriftOverALongTime) {
    std::mt19937_64 random{5};
    std::lognormal_distribution<double> value{0, 4};
    std::vector<double> values(1'000'000);
    for (double& v : values) v = value(random);
    expect_means(values, 100, 997);
}

TEST(MovingAverage, ForgetsValuesThatDwarfTheRest) {
    std::vector<double> values;
    for (int i = 0; i < 400; ++i) values.push_back(i % 100 == 50 ? 1e22 : 1 + i * 0.001);
    expect_means(values, 10, 1);
}

TEST(MovingAverage, RecoversFromAnOverflow) {
    MovingAverage average(10);
    const double huge = std::numeric_limits<double>::max();
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(std::isnan(average({1, 1}).mean));
    for (int i = 0; i < 3; ++i) static_cast<void>(average({1, huge}));
    Scored last{};
    for (int i = 0; i < 30; ++i) last = average({1, 2});
    EXPECT_EQ(last.mean, 2);
}

}  // namespace
}  // namespace strid::apps::spike_detection
