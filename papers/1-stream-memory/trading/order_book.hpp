// SPDX-License-Identifier: Apache-2.0
//
// The displayed orders of all stocks, and the best prices of each: what the messages of a
// TotalView-ITCH feed about orders change. Prices are ticks of 10^-4.
//
// Invariant: the size of a level is the sum of the shares of its orders, and no level is empty;
// bids rise and asks fall, so that the best price is the last.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace strid::apps::trading {

class OrderBook {
  public:
    enum class Side : std::uint8_t { bid, ask };
    struct Level {
        std::uint32_t price = 0;
        std::uint64_t size = 0;
        friend bool operator==(const Level&, const Level&) = default;
    };
    /// The best prices of a stock; a side without orders is 0.
    struct Best {
        Level bid;
        Level ask;
        friend bool operator==(const Best&, const Best&) = default;
    };
    struct Order {
        std::uint16_t stock;
        Side side;
        std::uint32_t shares;
        std::uint32_t price;
    };
    using Reference = std::uint64_t;

    /// Each returns false, with a sentence, where the message contradicts what came before; then
    /// nothing has changed. O(1) beside the levels between the price and the best one.
    [[nodiscard]] bool add(Reference reference, const Order& order, std::string& fault);
    /// `shares` of the order of this stock are gone.
    [[nodiscard]] bool reduce(std::uint16_t stock, Reference reference, std::uint32_t shares,
                              std::string& fault);
    [[nodiscard]] bool remove(std::uint16_t stock, Reference reference, std::string& fault);
    /// Another order of the same side in its place.
    [[nodiscard]] bool replace(std::uint16_t stock, Reference reference, Reference by,
                               std::uint32_t shares, std::uint32_t price, std::string& fault);

    [[nodiscard]] Best best_of(std::uint16_t stock) const noexcept;
    [[nodiscard]] std::size_t orders() const noexcept { return orders_.size(); }
    /// Approximately.
    [[nodiscard]] std::size_t bytes() const noexcept;

  private:
    using Orders = boost::unordered_flat_map<Reference, Order>;
    struct Stock {
        std::vector<Level> bids;
        std::vector<Level> asks;
    };

    [[nodiscard]] Orders::iterator find(std::uint16_t stock, Reference reference,
                                        std::string& fault);
    [[nodiscard]] std::vector<Level>& levels_of(const Order& order) noexcept;
    /// False: the level would be too large.
    [[nodiscard]] bool add_size(const Order& order);
    void take_size(const Order& order, std::uint32_t shares) noexcept;

    Orders orders_;
    std::vector<Stock> stocks_;  // by their number in the feed, up to the last with an order
};

}  // namespace strid::apps::trading
