// SPDX-License-Identifier: Apache-2.0
//
// The trading operator by the obvious loop, as the tests compare graphs and farms with it: all
// quotes of a symbol side by side, every window cut out of them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <trading/quote.hpp>
#include <trading/trading_day.hpp>

namespace strid::test {

using namespace strid::apps::trading;

inline std::vector<Quote> some_quotes(std::size_t count, std::uint32_t symbols,
                                      std::uint64_t seed = 1) {
    TradingDay day(DayShape{}, symbols, seed);
    std::vector<Quote> quotes(count);
    for (Quote& quote : quotes) EXPECT_TRUE(day.next(quote));
    return quotes;
}

using Row = std::tuple<std::uint64_t, std::uint64_t, double, std::int64_t, std::uint64_t>;

inline Row row_of(const Prediction& prediction) {
    const Forecast& forecast = prediction.forecast;
    return {prediction.symbol, prediction.window, forecast.price, forecast.volume, forecast.number};
}

/// Sorted by symbol and window.
template <class Function>
std::vector<Row> plain_loop(const std::vector<Quote>& quotes, std::size_t length, std::size_t slide,
                            const Function& function) {
    std::map<std::uint64_t, std::vector<Quote>> symbols;
    for (const Quote& quote : quotes) symbols[quote.symbol].push_back(quote);
    std::vector<Row> rows;
    for (const auto& [symbol, own] : symbols) {
        for (std::size_t window = 0; window * slide + length <= own.size(); ++window) {
            const Forecast forecast =
                function(std::span<const Quote>(own).subspan(window * slide, length));
            rows.push_back(row_of({symbol, window, forecast}));
        }
    }
    return rows;
}

}  // namespace strid::test
