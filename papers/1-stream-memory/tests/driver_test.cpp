// SPDX-License-Identifier: Apache-2.0
//
// The search for the sustained rate, against servers of a known rate in simulated time, and the
// checksums of the benchmarks against the plain loop.
#include "../bench/driver.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "../bench/answer.hpp"
#include "plain_loop.hpp"

namespace strid {
namespace {

using namespace bench;
using apps::trading::Quote;

/// Every quote is a window, which the server finishes at its rate.
struct Server {
    double per_second;
    std::uint64_t queue_max;
};

double sustained_by(const Server& server) {
    Feed feed({.symbols = 3, .fill_quotes = 100, .length = 1, .slide = 1});
    Answer answer(3, 0);
    RateSearch search({.fill_quotes = 100,
                       .closed_seconds = 0.4,
                       .lateness_seconds_max = 0.02,
                       .steps = 6,
                       .arrivals = Arrivals::flat},
                      feed, answer);
    std::vector<Quote> queue;
    std::vector<std::uint64_t> windows(3);
    constexpr std::int64_t tick_ns = 20'000;
    double credit = 0;
    std::size_t served = 0;
    for (std::int64_t now_ns = 1; !search.finished(); now_ns += tick_ns) {
        credit += server.per_second * static_cast<double>(tick_ns) / 1e9;
        for (; credit >= 1 && served < queue.size(); --credit) {
            const std::uint64_t symbol = queue[served++].symbol;
            answer.take({symbol, windows[symbol]++, {}});
        }
        credit = std::min(credit, 1.0);
        const std::size_t room = server.queue_max - (queue.size() - served);
        const std::size_t sent = std::min(search.due(now_ns), room);
        for (std::size_t i = 0; i < sent; ++i, feed.pop()) queue.push_back(feed.front());
        search.sent(sent);
    }
    EXPECT_NEAR(search.closed_rate(), server.per_second, 0.05 * server.per_second);
    return search.sustained().rate;
}

TEST(RateSearch, FindsTheRateOfAServer) {
    for (const double rate : {2'000.0, 15'000.0}) {
        for (const std::uint64_t queue_max : {64UL, 1'000'000UL}) {
            // Up to the lateness that is allowed: a twentieth of the phase.
            EXPECT_NEAR(sustained_by({rate, queue_max}), 1.025 * rate, 0.05 * rate);
        }
    }
}

TEST(SequentialChecksum, IsThatOfThePlainLoop) {
    const FeedOptions options{
        .symbols = 5, .fill_quotes = 900, .shape = test::DayShape{}, .length = 60, .slide = 7};
    constexpr std::uint64_t count = 2'000;
    constexpr std::uint64_t compared = 1'500;
    std::vector<Quote> quotes;
    Feed feed(options);
    for (; quotes.size() != count; feed.pop()) quotes.push_back(feed.front());
    const apps::trading::PriceModel model;
    Checksum expected;
    for (const auto& [symbol, window, price, volume, number] :
         test::plain_loop(quotes, options.length, options.slide, model)) {
        expected.add_window(symbol, window, volume);
        if (number < compared) expected.add_forecast(symbol, window, price);
    }
    EXPECT_EQ(sequential_checksum(options, model, count, compared), expected);
    EXPECT_EQ(feed.windows(), expected.windows);
    EXPECT_GT(expected.forecasts, 50U);
}

TEST(Answer, ChecksTheOrder) {
    Answer answer(2, 10);
    answer.take({0, 0, {1.5, 10, 3}});
    answer.take({1, 0, {2.5, 20, 4}});
    EXPECT_TRUE(answer.in_order());
    EXPECT_EQ(answer.delivered(), 2U);
    answer.take({0, 2, {1.5, 10, 12}});
    EXPECT_FALSE(answer.in_order());
    EXPECT_EQ(answer.checksum().forecasts, 2U);
}

}  // namespace
}  // namespace strid
