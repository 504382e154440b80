// SPDX-License-Identifier: Apache-2.0
//
// The input and the output of the trading operator (paper 1, section 5). Plain values. Prices are
// whole ticks, so that sums are exact whatever the order of the additions.
#pragma once

#include <cstdint>
#include <type_traits>

#include <strid/base/time.hpp>

namespace strid::apps::trading {

/// The paper's number of stock symbols.
inline constexpr std::uint32_t symbol_count = 2'836;

/// An offer to buy and one to sell: the paper's tuple of 64 bytes.
struct Quote {
    std::uint64_t symbol;
    EventTime time;
    std::int64_t bid;  ///< ticks
    std::int64_t ask;
    std::int64_t bid_volume;
    std::int64_t ask_volume;
    std::uint64_t exchange;
    std::uint64_t number;  ///< in the stream, from 0
};
static_assert(sizeof(Quote) == 64 && std::is_trivially_copyable_v<Quote>);

/// The result of the model for the quotes of a window.
struct Forecast {
    double price;          ///< ticks, one interval after the last quote
    std::int64_t volume;   ///< of all quotes of the window, bids and asks
    std::uint64_t number;  ///< of the last quote
    EventTime time = {};   ///< the begin of the interval that is forecast
};

/// A forecast and the window that it comes from.
struct Prediction {
    std::uint64_t symbol;
    std::uint64_t window;  ///< of the symbol, from 0
    Forecast forecast;
};

}  // namespace strid::apps::trading
