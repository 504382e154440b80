// SPDX-License-Identifier: Apache-2.0
//
// The generated day has the documented shape.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "plain_loop.hpp"

namespace strid {
namespace {

using namespace test;

std::vector<Quote> whole_day(const DayShape& shape, std::uint32_t symbols, std::uint64_t seed = 1) {
    TradingDay day(shape, symbols, seed);
    std::vector<Quote> quotes;
    for (Quote quote; day.next(quote);) quotes.push_back(quote);
    return quotes;
}

/// Quotes between two moments of the day, in seconds before the acceleration.
double between(const std::vector<Quote>& quotes, double from, double to, double acceleration) {
    return static_cast<double>(std::count_if(quotes.begin(), quotes.end(), [&](const Quote& quote) {
        const double seconds = static_cast<double>(quote.time.ns()) / 1e9 * acceleration;
        return from <= seconds && seconds < to;
    }));
}

TEST(TradingDay, HasTheQuotesAndTheLengthThatAreAskedFor) {
    for (const double acceleration : {1.0, 50.0}) {
        const DayShape shape{.quotes = 300'000, .acceleration = acceleration};
        const auto quotes = whole_day(shape, 100);
        EXPECT_NEAR(static_cast<double>(quotes.size()), 300'000, 15'000);
        EXPECT_NEAR(static_cast<double>(quotes.back().time.ns()) / 1e9, 23'400 / acceleration,
                    100 / acceleration);
        EXPECT_TRUE(std::is_sorted(quotes.begin(), quotes.end(),
                                   [](const Quote& a, const Quote& b) { return a.time < b.time; }));
    }
}

TEST(TradingDay, IsBusyAtTheOpeningAndAtTheClose) {
    const DayShape shape{.quotes = 300'000};
    const auto quotes = whole_day(shape, 100);
    constexpr double ten_minutes = 600;
    const double opening = between(quotes, 0, ten_minutes, 50);
    const double noon = between(quotes, 11'700, 11'700 + ten_minutes, 50);
    const double close = between(quotes, 23'400 - ten_minutes, 23'400, 50);
    // The mean of 1 + 5 exp(-t/20min) over ten minutes is 4.9; bursts blur it.
    EXPECT_NEAR(opening / noon, 4.9, 1.5);
    EXPECT_NEAR(close / noon, 4.1, 1.5);
}

TEST(TradingDay, HasBursts) {
    const auto in_busiest_second = [](const DayShape& shape) {
        std::map<std::int64_t, double> seconds;
        const auto quotes = whole_day(shape, 10);
        for (const Quote& quote : quotes) ++seconds[quote.time.ns() * 50 / 1'000'000'000];
        double most = 0;
        for (const auto& [second, count] : seconds) most = std::max(most, count);
        return most / (static_cast<double>(quotes.size()) / 23'400);
    };
    DayShape shape = DayShape::flat();
    shape.quotes = 1'000'000;
    EXPECT_LT(in_busiest_second(shape), 2);
    shape.burst_factor = 8;
    EXPECT_GT(in_busiest_second(shape), 4);
}

TEST(TradingDay, DrawsSymbolsByZipfOrAllAlike) {
    constexpr std::uint32_t symbols = 50;
    double harmonic = 0;
    for (std::uint32_t rank = 1; rank <= symbols; ++rank) harmonic += 1.0 / rank;
    DayShape shape{.quotes = 200'000};
    for (const double exponent : {1.0, 0.0}) {
        shape.zipf_exponent = exponent;
        const auto quotes = whole_day(shape, symbols);
        std::vector<double> counts(symbols);
        for (const Quote& quote : quotes) ++counts.at(quote.symbol);
        for (std::uint32_t symbol = 0; symbol < symbols; ++symbol) {
            const double share = exponent == 0 ? 1.0 / symbols : 1 / ((symbol + 1.0) * harmonic);
            const double expected = share * static_cast<double>(quotes.size());
            EXPECT_NEAR(counts[symbol], expected, 6 * std::sqrt(expected));
        }
    }
}

TEST(TradingDay, PricesWalkAndTheSameSeedWalksTheSameWay) {
    const auto quotes = some_quotes(20'000, 5, 7);
    std::map<std::uint64_t, std::int64_t> bids;
    std::uint64_t number = 0;
    for (const Quote& quote : quotes) {
        EXPECT_EQ(quote.number, number++);
        EXPECT_LT(0, quote.bid);
        EXPECT_LT(quote.bid, quote.ask);
        EXPECT_LT(0, quote.bid_volume);
        EXPECT_LT(0, quote.ask_volume);
        const auto [bid, is_new] = bids.try_emplace(quote.symbol, quote.bid);
        EXPECT_LE(std::abs(quote.bid - bid->second), 1);
        bid->second = quote.bid;
    }
    const auto again = some_quotes(20'000, 5, 7);
    const auto other = some_quotes(20'000, 5, 8);
    const auto same = [](const Quote& a, const Quote& b) {
        return a.symbol == b.symbol && a.time == b.time && a.bid == b.bid;
    };
    EXPECT_TRUE(std::equal(quotes.begin(), quotes.end(), again.begin(), same));
    EXPECT_FALSE(std::equal(quotes.begin(), quotes.end(), other.begin(), same));
}

TEST(TradingDay, GoesOnWithAnotherShape) {
    TradingDay day(DayShape::flat(), 4);
    Quote quote{};
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(day.next(quote));
    const Quote last = quote;
    day.begin(DayShape{});
    ASSERT_TRUE(day.next(quote));
    EXPECT_EQ(quote.number, last.number + 1);
    EXPECT_GE(quote.time, last.time);
    EXPECT_LT(quote.time - last.time, std::chrono::seconds{1});
}

}  // namespace
}  // namespace strid
