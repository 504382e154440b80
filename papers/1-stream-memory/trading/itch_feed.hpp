// SPDX-License-Identifier: Apache-2.0
//
// The messages of NASDAQ TotalView-ITCH 5.0 as quotes: each message that changes the best bid or
// ask of a stock, or a size there, makes a quote of the two best prices. Messages of trades against
// hidden orders, of crosses and of the state of the market change no order.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "market.hpp"
#include "order_book.hpp"
#include "quote.hpp"

namespace strid::apps::trading {

class ItchFeed {
  public:
    enum class [[nodiscard]] Outcome : std::uint8_t { nothing, quote, refused };

    explicit ItchFeed(std::shared_ptr<Market> market);

    /// Takes a message without its length. `refused`: `fault` says why, and nothing has changed.
    Outcome take(std::string_view message, Quote& quote, std::string& fault);
    [[nodiscard]] std::size_t bytes() const noexcept;

  private:
    struct Stock {
        std::uint64_t symbol = 0;
        std::string name = {};  // empty: not known yet
        OrderBook::Best best = {};
    };
    class Fields;

    [[nodiscard]] bool check(std::string_view message, std::string& fault) const;
    [[nodiscard]] bool take_order(const Fields& fields, std::string& fault);
    [[nodiscard]] bool name_stock(const Fields& fields, std::size_t at, std::string& fault);
    [[nodiscard]] bool has_moved(std::uint16_t stock) noexcept;

    std::shared_ptr<Market> market_;
    OrderBook book_;
    std::vector<Stock> stocks_;  // by their number in the feed, up to the last with a name
    std::uint64_t latest_ns_ = 0;
    std::uint64_t quotes_ = 0;
};

}  // namespace strid::apps::trading
