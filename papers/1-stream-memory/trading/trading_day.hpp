// SPDX-License-Identifier: Apache-2.0
//
// A stream of quotes with the shape of a trading day, made up: many quotes at the opening and at
// the close, short bursts in between, a few symbols that most quotes are of (Zipf), and prices that
// are a random walk for each symbol. The same seed gives the same day.
//
// Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <tuple>
#include <vector>

#include <strid/base/time.hpp>
#include <strid/connector/random.hpp>

#include "quote.hpp"

namespace strid::apps::trading {

/// The defaults are the paper's: some 50 million quotes in six and a half hours, 50 times as fast.
struct DayShape {
    double quotes = 50e6;  ///< expected
    std::chrono::duration<double> length = std::chrono::minutes{390};
    double acceleration = 50;  ///< event times run so many times as fast as the day

    /// How many times the rate of noon comes on top of it at the opening and at the close, and how
    /// soon that is a third.
    double opening = 5;
    double close = 4;
    std::chrono::duration<double> rush = std::chrono::minutes{20};

    /// Bursts of quotes: one in so long, so long, and up to so many times the rate of the moment.
    std::chrono::duration<double> between_bursts = std::chrono::seconds{60};
    std::chrono::duration<double> burst = std::chrono::seconds{2};
    double burst_factor = 8;

    double zipf_exponent = 1;  ///< 0: all symbols alike

    /// No rush, no burst, all symbols alike: the stream that rates are measured with.
    [[nodiscard]] static DayShape flat() noexcept {
        DayShape shape;
        shape.opening = shape.close = 0;
        shape.burst_factor = 1;
        shape.zipf_exponent = 0;
        return shape;
    }
};

class TradingDay {
  public:
    explicit TradingDay(DayShape shape, std::uint32_t symbols = symbol_count,
                        std::uint64_t seed = 1);

    /// The next quote; false when the day is over.
    [[nodiscard]] bool next(Quote& quote);

    /// Ends the day and begins another where it ended, in time, numbers and prices.
    void begin(DayShape shape);

    /// Quotes per second of the day, `seconds` after its begin, where there is no burst.
    [[nodiscard]] double intensity(double seconds) const noexcept;

    /// As strid/state/codec.hpp says, of a day of the same shape.
    auto state() {
        return std::tie(random_, prices_, noon_, now_seconds_, rate_, rate_until_, burst_begin_,
                        burst_end_, factor_, day_begin_, number_);
    }

  private:
    struct Price {
        std::int64_t bid;
        std::int64_t spread;
    };

    void advance();
    [[nodiscard]] std::uint64_t draw_symbol();
    [[nodiscard]] double draw_exponential(double mean);

    DayShape shape_;
    Random random_;
    std::vector<Price> prices_;       // by symbol
    std::vector<double> cumulative_;  // shares of the symbols up to each; empty: all alike
    double noon_ = 0;                 // quotes per second
    double now_seconds_ = 0;          // of the day
    double rate_ = 0;                 // the intensity as last computed
    double rate_until_ = 0;           // when it is computed anew
    double burst_begin_ = 0;
    double burst_end_ = 0;
    double factor_ = 1;  // of the burst
    EventTime day_begin_ = EventTime::of_ns(0);
    std::uint64_t number_ = 0;
};

}  // namespace strid::apps::trading
