// SPDX-License-Identifier: Apache-2.0
//
// Quantiles against all values sorted, with linear interpolation between neighbours (numpy's
// default): exact up to 65,536 values, and above that by how far the rank is off.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/base/error.hpp>
#include <strid/engine/window/aggregates/add_record.hpp>
#include <strid/engine/window/aggregates/exact_memory.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/codec.hpp>
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
    for (const std::size_t count : {1U, 2U, 100U, 1024U, 1025U, 5000U, 16'384U, 65'535U, 65'536U}) {
        std::vector<double> values;
        for (std::size_t i = 0; i != count; ++i) {
            values.push_back(static_cast<double>(random() % 100'000) / 8);
        }
        for (const std::size_t parts : {1U, 7U}) {
            if (parts != 1 && count > TDigest::merged_exact_max) continue;
            for (const double q : shares) {
                EXPECT_NEAR(quantile(field<&Reading::value>, q).lower(digest_of(values, parts)),
                            interpolated(values, q), 1e-9);
            }
        }
    }
}

TEST(Quantile, MergedWithNoneItIsTheSame) {
    TDigest digest;
    for (std::size_t i = 0; i != TDigest::exact_max; ++i) digest.add(static_cast<double>(i * i));
    TDigest merged;
    merged.merge(digest);
    merged.merge(TDigest{});
    EXPECT_EQ(merged.quantile(0.5), (32767. * 32767 + 32768. * 32768) / 2);
}

TEST(Quantile, BeyondTheLimitItIsASketch) {
    TDigest digest;
    for (std::size_t i = 0; i != TDigest::exact_max + 1; ++i) {
        digest.add(static_cast<double>(i * i));
    }
    EXPECT_EQ(digest.count(), TDigest::exact_max + 1);
    // Centroids in the middle stand for several values: no value in order is the median of all.
    EXPECT_NE(digest.quantile(0.5), 32768. * 32768);
    EXPECT_EQ(digest.quantile(0), 0);
    EXPECT_EQ(digest.quantile(1), 65536. * 65536);
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

/// All memory of exact values is used up.
class MemoryUsedUp {
  public:
    MemoryUsedUp() { detail::exact_memory_used.fetch_add(exact_memory_max); }
    MemoryUsedUp(const MemoryUsedUp&) = delete;
    MemoryUsedUp& operator=(const MemoryUsedUp&) = delete;
    ~MemoryUsedUp() { detail::exact_memory_used.fetch_sub(exact_memory_max); }
};

void expect_near_in_rank(const TDigest& digest, const std::vector<double>& sorted) {
    ASSERT_EQ(digest.count(), sorted.size());
    for (const double q : shares) {
        const double bound =
            4 * q * (1 - q) / TDigest::compression + 2.0 / static_cast<double>(sorted.size());
        EXPECT_LE(rank_error(sorted, digest.quantile(q), q), bound) << "q " << q;
    }
}

TEST(Quantile, WithoutMemoryItIsASketch) {
    const std::size_t before = detail::exact_memory_used;
    {
        std::mt19937_64 random{3};
        std::vector<double> values;
        for (std::size_t i = 0; i != 20'000; ++i) values.push_back(std::ldexp(random(), -32));
        const TDigest exact = digest_of(values, 1);
        EXPECT_GE(detail::exact_memory_used, before + values.size() * sizeof(double));
        std::vector<double> sorted = values;
        std::sort(sorted.begin(), sorted.end());

        const MemoryUsedUp used_up;
        const std::size_t full = detail::exact_memory_used;
        const TDigest added = digest_of(values, 1);
        const TDigest copied = exact;
        const BasicTDigest<long double> widened(exact);
        TDigest assigned;
        assigned = exact;
        TDigest merged;
        merged.merge(exact);
        EXPECT_LE(detail::exact_memory_used, full + (std::size_t{64} << 10));
        for (const TDigest& digest : {added, copied, assigned, merged}) {
            expect_near_in_rank(digest, sorted);
        }
        EXPECT_EQ(widened.count(), values.size());
        EXPECT_EQ(exact.quantile(0.5), interpolated(values, 0.5));

        // Few values always have their memory.
        values.resize(1024);
        EXPECT_EQ(digest_of(values, 1).quantile(0.9), interpolated(values, 0.9));
    }
    EXPECT_EQ(detail::exact_memory_used, before);
}

template <class Save>
TDigest loaded_of(const Save& save) {
    StateBytes bytes;
    StateWriter writer{bytes};
    save(writer);
    writer.flush();
    StateReader reader{bytes.whole()};
    TDigest loaded;
    loaded.load(reader);
    reader.expect_end();
    return loaded;
}
TDigest there_and_back(const TDigest& digest) {
    return loaded_of([&](StateWriter& writer) { digest.save(writer); });
}

TEST(Quantile, IsSavedAndLoaded) {
    std::mt19937_64 random{4};
    for (const std::size_t count : {0U, 1U, 700U, 65'536U, 65'537U, 70'000U}) {
        TDigest digest;
        for (std::size_t i = 0; i != count; ++i) digest.add(std::ldexp(random(), -60));
        TDigest loaded = there_and_back(digest);
        for (int round = 0; round != 2; ++round) {
            EXPECT_EQ(loaded.count(), digest.count());
            for (const double q : shares) {
                const double expected = digest.quantile(q);
                const double got = loaded.quantile(q);
                EXPECT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected)))
                    << count << " values, round " << round << ", q " << q << ": " << got << ", "
                    << expected;
            }
            digest.add(0.25);
            loaded.add(0.25);
        }
    }
}

struct SavedCentroid {
    double mean;
    double weight;
};
TDigest loaded_from(const std::vector<SavedCentroid>& centroids, std::size_t in_order,
                    std::uint64_t count) {
    return loaded_of([&](StateWriter& writer) {
        state::save(writer, centroids);
        writer.length(in_order);
        writer.number(count);
    });
}

/// The first version joined centroids later, so that those of others stood behind its own.
TEST(Quantile, OfTheFirstVersionIsLoaded) {
    const TDigest sketch = loaded_from({{1, 1}, {5, 3}, {9, 1}, {4, 2}, {2, 1}}, 3, 8);
    EXPECT_EQ(sketch.count(), 8U);
    EXPECT_EQ(sketch.quantile(0), 1);
    EXPECT_EQ(sketch.quantile(1), 9);
    EXPECT_EQ(sketch.quantile(1. / 7), 2);
    const TDigest values = loaded_from({{3, 1}, {1, 1}, {2, 1}}, 0, 3);
    EXPECT_EQ(values.quantile(0.5), 2);
}

TEST(Quantile, DamagedOnesAreRefused) {
    EXPECT_THROW((void)loaded_from({{1, 1}}, 2, 1), StateError);
    EXPECT_THROW((void)loaded_from({{1, 1}}, 1, 2), StateError);
    EXPECT_THROW((void)loaded_from({{2, 1}, {1, 1}}, 2, 2), StateError);
    EXPECT_THROW((void)loaded_from({{1, 0.5}}, 1, 0), StateError);
    EXPECT_THROW((void)loaded_from({{1, 1e300}}, 1, 1), StateError);
    EXPECT_THROW((void)loaded_from({{1, nan}}, 1, 1), StateError);
    EXPECT_THROW((void)loaded_from({{nan, 1}}, 1, 1), StateError);
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
