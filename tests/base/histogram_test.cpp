// SPDX-License-Identifier: Apache-2.0
//
// The histogram against a sorted vector of the same values.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <strid/base/histogram.hpp>

namespace strid {
namespace {

constexpr double percents[] = {0, 0.1, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100};

// Nearest rank: the smallest value that `percent` of all do not exceed.
std::int64_t exact_percentile(const std::vector<std::int64_t>& sorted, double percent) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(sorted.size())));
    return sorted[rank == 0 ? 0 : rank - 1];
}

void expect_matches(const Histogram& histogram, std::vector<std::int64_t> values) {
    std::sort(values.begin(), values.end());
    ASSERT_EQ(histogram.count(), values.size());
    EXPECT_EQ(histogram.min(), values.front());
    EXPECT_EQ(histogram.max(), values.back());
    for (double percent : percents) {
        const auto exact = static_cast<double>(exact_percentile(values, percent));
        const auto found = static_cast<double>(histogram.percentile(percent));
        EXPECT_LE(std::abs(found - exact), exact / 64) << percent << "% of " << values.size();
    }
}

TEST(Histogram, EmptyIsAllZero) {
    const Histogram histogram;
    EXPECT_EQ(histogram.count(), 0U);
    EXPECT_EQ(histogram.min(), 0);
    EXPECT_EQ(histogram.max(), 0);
    EXPECT_EQ(histogram.mean(), 0.0);
    EXPECT_EQ(histogram.percentile(99), 0);
}

TEST(Histogram, SmallValuesAreExact) {
    Histogram histogram;
    for (std::int64_t value = 0; value < 64; ++value) histogram.record(value);
    for (int rank = 1; rank <= 64; ++rank) {
        EXPECT_EQ(histogram.percentile(100.0 * rank / 64), rank - 1);
    }
    EXPECT_DOUBLE_EQ(histogram.mean(), 31.5);
}

TEST(Histogram, MatchesSortedVectorForManyShapes) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        std::lognormal_distribution<double> lognormal(4 + static_cast<double>(seed % 12), 2);
        std::uniform_int_distribution<std::int64_t> uniform(0, std::int64_t{1} << (seed * 3));
        Histogram histogram;
        std::vector<std::int64_t> values;
        const std::size_t count = 1 + random() % 5000;
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t value =
                seed % 2 == 0 ? static_cast<std::int64_t>(lognormal(random)) : uniform(random);
            histogram.record(value);
            values.push_back(value);
        }
        expect_matches(histogram, values);
    }
}

TEST(Histogram, EveryPowerOfTwoAndItsNeighbours) {
    for (int bit = 0; bit < 63; ++bit) {
        for (std::int64_t offset : {-1, 0, 1}) {
            const std::int64_t value = (std::int64_t{1} << bit) + offset;
            Histogram histogram;
            histogram.record(0);
            histogram.record(value);
            histogram.record(std::numeric_limits<std::int64_t>::max());
            const auto found = static_cast<double>(histogram.percentile(50));
            EXPECT_LE(std::abs(found - static_cast<double>(value)), static_cast<double>(value) / 64)
                << value;
        }
    }
}

TEST(Histogram, WeightCountsAsThatManyValues) {
    Histogram weighted;
    weighted.record(1000, 990);
    weighted.record(50'000, 10);
    weighted.record(70, 0);
    std::vector<std::int64_t> values(990, 1000);
    values.insert(values.end(), 10, 50'000);
    expect_matches(weighted, values);
    EXPECT_DOUBLE_EQ(weighted.mean(), (990 * 1000.0 + 10 * 50'000.0) / 1000);
}

TEST(Histogram, NegativeCountsAsZero) {
    Histogram histogram;
    histogram.record(-5);
    EXPECT_EQ(histogram.count(), 1U);
    EXPECT_EQ(histogram.min(), 0);
    EXPECT_EQ(histogram.max(), 0);
}

TEST(Histogram, MergeEqualsRecordingBoth) {
    std::mt19937_64 random(7);
    Histogram total;
    std::vector<std::int64_t> values;
    for (int part = 0; part < 4; ++part) {
        Histogram histogram;
        for (int i = 0; i < 1000; ++i) {
            const auto value = static_cast<std::int64_t>(random() >> (24 + 8 * part));
            histogram.record(value);
            values.push_back(value);
        }
        total.merge(histogram);
    }
    total.merge(Histogram{});
    expect_matches(total, values);
    total.clear();
    EXPECT_EQ(total.count(), 0U);
    EXPECT_EQ(total.percentile(50), 0);
}

/// Every value lies in one bucket, and buckets do not overlap.
TEST(Histogram, ItsBucketsHoldEveryValueOnce) {
    std::mt19937_64 random{7};
    Histogram histogram;
    std::vector<std::int64_t> values{0,  1,   63,  64,
                                     65, 127, 128, std::numeric_limits<std::int64_t>::max()};
    for (int i = 0; i < 2'000; ++i) {
        values.push_back(static_cast<std::int64_t>(random() >> (1 + random() % 62)));
    }
    for (const std::int64_t value : values) histogram.record(value);
    std::int64_t before = -1;
    histogram.for_each_bucket([&](std::int64_t largest, std::uint64_t occurrences) {
        ASSERT_GT(largest, before);
        const auto inside = std::count_if(values.begin(), values.end(), [&](std::int64_t value) {
            return value > before && value <= largest;
        });
        ASSERT_EQ(occurrences, static_cast<std::uint64_t>(inside)) << "up to " << largest;
        before = largest;
    });
    EXPECT_EQ(before, std::numeric_limits<std::int64_t>::max());
}

TEST(Histogram, ReadersBesideTheWriter) {
    Histogram histogram;
    std::atomic<bool> done{false};
    std::thread reader([&] {
        std::uint64_t before = 0;
        while (!done.load(std::memory_order_relaxed)) {
            const std::uint64_t count = histogram.count();
            EXPECT_GE(count, before);
            before = count;
            const std::int64_t median = histogram.percentile(50);
            EXPECT_GE(median, 0);
            EXPECT_LE(median, 1000);
        }
    });
    for (std::int64_t i = 0; i < 200'000; ++i) histogram.record(i % 1000);
    done.store(true, std::memory_order_relaxed);
    reader.join();
    EXPECT_EQ(histogram.count(), 200'000U);
}

}  // namespace
}  // namespace strid
