// SPDX-License-Identifier: Apache-2.0
//
// The stream that all variants are measured with: first quotes of all symbols alike, until their
// windows are full, then a day of another shape, again and again. It counts the windows that its
// quotes complete. The same options give the same stream. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include <trading/quote.hpp>
#include <trading/trading_day.hpp>

namespace strid::bench {

struct FeedOptions {
    std::uint32_t symbols = apps::trading::symbol_count;
    std::uint64_t fill_quotes = 0;
    apps::trading::DayShape shape = apps::trading::DayShape::flat();  ///< after them
    std::uint64_t length = 1'000;
    std::uint64_t slide = 25;
};

class Feed {
  public:
    explicit Feed(const FeedOptions& options)
        : options_(options),
          day_(apps::trading::DayShape::flat(), options.symbols),
          positions_(options.symbols, 0) {
        make_next();
    }

    /// The next quote.
    [[nodiscard]] const apps::trading::Quote& front() const noexcept { return front_; }
    void pop() {
        const std::uint64_t count = ++positions_[front_.symbol];
        if (count >= options_.length && (count - options_.length) % options_.slide == 0) {
            ++windows_;
        }
        ++quotes_;
        if (quotes_ == options_.fill_quotes) day_.begin(options_.shape);
        make_next();
    }

    /// Quotes taken, and the windows that they complete.
    [[nodiscard]] std::uint64_t quotes() const noexcept { return quotes_; }
    [[nodiscard]] std::uint64_t windows() const noexcept { return windows_; }
    [[nodiscard]] const FeedOptions& options() const noexcept { return options_; }

  private:
    void make_next() {
        while (!day_.next(front_)) day_.begin(options_.shape);
    }

    FeedOptions options_;
    apps::trading::TradingDay day_;
    std::vector<std::uint64_t> positions_;  // by symbol
    apps::trading::Quote front_{};
    std::uint64_t quotes_ = 0;
    std::uint64_t windows_ = 0;
};

}  // namespace strid::bench
