// SPDX-License-Identifier: Apache-2.0
//
// The sketch of a set: its errors over many sets against the closed formula, that it depends on the
// set alone, and its registers against the definition over strings of bits.
#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/window/aggregates/hyper_log_log.hpp>

namespace strid::window {
namespace {

/// Relative errors over many sets, at sizes from 1 to 10^6.
template <unsigned precision, class ValueOf>
void expect_errors_of_the_formula(ValueOf&& value_of, std::uint64_t sets, std::uint64_t size_max) {
    const std::vector<std::uint64_t> sizes = {
        1, 2, 5, 10, 30, 100, 300, 1'000, 3'000, 10'000, 30'000, 100'000, 300'000, 1'000'000};
#ifdef __SANITIZE_THREAD__
    size_max = std::min<std::uint64_t>(size_max, 10'000);  // one thread: nothing is to be found
#endif
    std::vector<double> sums(sizes.size());
    std::vector<double> squares(sizes.size());
    for (std::uint64_t set = 0; set < sets; ++set) {
        HyperLogLog<precision> sketch;
        std::uint64_t size = 0;
        for (std::size_t i = 0; i < sizes.size() && sizes[i] <= size_max; ++i) {
            for (; size < sizes[i]; ++size) sketch.add(value_of(set, size));
            const double error = sketch.estimate() / static_cast<double>(size) - 1;
            ASSERT_EQ(sketch.is_exact(), size <= sketch.exact_max);
            if (sketch.is_exact()) {
                ASSERT_EQ(error, 0);
            }
            sums[i] += error;
            squares[i] += error * error;
        }
    }
    const double formula = HyperLogLog<precision>::standard_error();
    EXPECT_DOUBLE_EQ(formula, 1.04 / std::sqrt(static_cast<double>(1ULL << precision)));
    const auto count = static_cast<double>(sets);
    for (std::size_t i = 0; i < sizes.size() && sizes[i] <= size_max; ++i) {
        const double deviation = std::sqrt(squares[i] / count);
        SCOPED_TRACE(testing::Message()
                     << "precision " << precision << ", size " << sizes[i] << ": deviation "
                     << deviation << ", mean " << sums[i] / count << ", formula " << formula);
        // The deviation of a deviation over n sets is 1 / sqrt(2 n) of it, that of a mean
        // 1 / sqrt(n): four of them each. The bias is that of taking the constant of infinitely
        // many registers: 0.7213 / (0.7213 / (1 + 1.079 / m)) - 1 (paper of 2007, figure 3).
        const double bias = 1.079 / static_cast<double>(HyperLogLog<precision>::registers);
        EXPECT_LE(deviation, formula * (1 + 4 / std::sqrt(2 * count)));
        EXPECT_LE(std::abs(sums[i] / count), 4 * formula / std::sqrt(count) + bias);
        if (sizes[i] > 10 * HyperLogLog<precision>::registers) {
            EXPECT_GE(deviation, formula * (1 - 4 / std::sqrt(2 * count)));
        }
    }
}

constexpr std::uint64_t many_sets = 400;

TEST(HyperLogLog, ErrsAsTheFormulaPredictsForConsecutiveIntegers) {
    const auto value_of = [](std::uint64_t set, std::uint64_t i) { return set * 10'000'000 + i; };
    expect_errors_of_the_formula<6>(value_of, many_sets, 100'000);
    expect_errors_of_the_formula<10>(value_of, many_sets, 100'000);
    expect_errors_of_the_formula<12>(value_of, many_sets / 4, 1'000'000);
    expect_errors_of_the_formula<14>(value_of, many_sets / 4, 300'000);
}

TEST(HyperLogLog, ErrsAsTheFormulaPredictsForEvenlySpacedIntegersAndForFractions) {
    expect_errors_of_the_formula<8>(
        [](std::uint64_t set, std::uint64_t i) { return (i << 20) + (set << 44); }, many_sets,
        100'000);
    expect_errors_of_the_formula<8>(
        [](std::uint64_t set, std::uint64_t i) {
            return static_cast<double>(set) + static_cast<double>(i) / 1'048'576;
        },
        many_sets, 100'000);
}

TEST(HyperLogLog, ErrsAsTheFormulaPredictsForRandomNumbersAndTexts) {
    std::mt19937_64 random{7};
    expect_errors_of_the_formula<8>([&](std::uint64_t, std::uint64_t) { return random(); },
                                    many_sets, 100'000);
    expect_errors_of_the_formula<8>(
        [](std::uint64_t set, std::uint64_t i) {
            return std::to_string(set) + '/' + std::to_string(i);
        },
        many_sets / 4, 30'000);
}

TEST(HyperLogLog, IsOfTheSetAlone) {
    EXPECT_TRUE(rc::check([](std::vector<std::uint16_t> x, const std::vector<std::uint16_t>& y) {
        const auto of = [](const std::vector<std::uint16_t>& values) {
            HyperLogLog<5> sketch;  // four values are kept
            for (const std::uint16_t value : values) sketch.add(value);
            return sketch;
        };
        auto merged = of(x);
        merged.merge(of(y));
        auto turned = of(y);
        turned.merge(of(x));
        auto itself = merged;
        itself.merge(merged);
        x.insert(x.end(), y.begin(), y.end());
        RC_ASSERT(merged == of(x));
        RC_ASSERT(turned == merged);
        RC_ASSERT(itself == merged);
        RC_ASSERT(merged.estimate() == of(x).estimate());
        std::sort(x.begin(), x.end());
        RC_ASSERT(merged == of(x));
        x.insert(x.end(), x.begin(), x.end());
        RC_ASSERT(merged == of(x));
    }));
}

TEST(HyperLogLog, UnionsOfLargeSetsAreExact) {
    HyperLogLog<> even;
    HyperLogLog<> threes;
    HyperLogLog<> both;
    for (std::uint32_t i = 0; i < 300'000; ++i) {
        if (i % 2 == 0) even.add(i);
        if (i % 3 == 0) threes.add(i);
        if (i % 2 == 0 || i % 3 == 0) both.add(i);
    }
    even.merge(threes);
    EXPECT_EQ(even, both);
    EXPECT_NEAR(both.estimate(), 200'000, 4 * 200'000 * both.standard_error());
}

/// Algorithm 6 of Ertl's paper over registers that are computed from strings of bits, with the
/// sums written out as the paper defines them (equations 14 and 15).
double estimate_by_definition(const std::vector<std::uint64_t>& values, unsigned precision) {
    const std::size_t m = std::size_t{1} << precision;
    const std::size_t q = 64 - precision;
    std::vector<std::size_t> registers(m);
    for (const std::uint64_t value : values) {
        const std::string bits = std::bitset<64>(hash_of(hash_of(value))).to_string();
        const auto index = std::bitset<64>(bits.substr(0, precision)).to_ullong();
        const auto one = bits.substr(precision).find('1');
        registers[index] = std::max(registers[index], one == std::string::npos ? q + 1 : one + 1);
    }
    std::vector<double> share(q + 2);
    for (const std::size_t rank : registers) share[rank] += 1.0 / static_cast<double>(m);
    double sigma = share[0];
    double tau = 1 - share[q + 1];
    for (int k = 1; k < 60; ++k) {
        sigma += std::pow(share[0], std::pow(2, k)) * std::pow(2, k - 1);
        tau -= std::pow(1 - std::pow(1 - share[q + 1], std::pow(2, -k)), 2) * std::pow(2, -k);
    }
    double sum = sigma + tau / 3 * std::pow(2, -static_cast<double>(q));
    for (std::size_t rank = 1; rank <= q; ++rank) {
        sum += share[rank] * std::pow(2, -static_cast<double>(rank));
    }
    return static_cast<double>(m) / (2 * std::log(2.0) * sum);
}

TEST(HyperLogLog, EstimatesAsItIsDefined) {
    std::mt19937_64 random{3};
    for (const std::size_t size : {3U, 10U, 20U, 50U, 100U, 1'000U, 20'000U}) {
        std::vector<std::uint64_t> values(size);
        HyperLogLog<4> sketch;
        for (std::uint64_t& value : values) sketch.add(value = random());
        ASSERT_FALSE(sketch.is_exact());
        const double expected = estimate_by_definition(values, 4);
        EXPECT_NEAR(sketch.estimate(), expected, 1e-9 * expected) << "size " << size;
    }
}

}  // namespace
}  // namespace strid::window
