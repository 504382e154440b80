// SPDX-License-Identifier: Apache-2.0
//
// The position of each user: shares of each symbol, and the money that they cost or brought. One
// thread at a time.
//
// Invariant: every trade gives as much as it takes, so over all users the shares of each symbol are
// 0, and so is the money. Shorts are positions below 0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "matching/order.hpp"

namespace strid::exchange {

struct Position {
    std::int64_t shares = 0;
    Money money = 0;
    bool operator==(const Position&) const = default;
};

class Holdings {
  public:
    /// User and symbol.
    using Key = std::pair<std::string, std::string>;

    /// The position of the user, which is made where there is none. O(log positions).
    Position& at(const std::string& user, const std::string& symbol) {
        return positions_[{user, symbol}];
    }
    /// Empty where there is none.
    [[nodiscard]] std::optional<Position> find(const std::string& user,
                                               const std::string& symbol) const {
        const auto found = positions_.find({user, symbol});
        return found == positions_.end() ? std::nullopt : std::optional(found->second);
    }
    /// Both sides of a trade.
    void add(const std::string& symbol, const Trade& trade) {
        const Money money = Money{trade.price} * trade.quantity;
        Position& buyer = at(trade.buyer, symbol);
        buyer.shares += trade.quantity;
        buyer.money -= money;
        Position& seller = at(trade.seller, symbol);
        seller.shares -= trade.quantity;
        seller.money += money;
    }
    [[nodiscard]] const std::map<Key, Position>& positions() const noexcept { return positions_; }
    /// Of all users: shares by symbol, and money. By the invariant each is 0.
    [[nodiscard]] std::map<std::string, Position> sums() const {
        std::map<std::string, Position> sums;
        for (const auto& [key, position] : positions_) {
            sums[key.second].shares += position.shares;
            sums[key.second].money += position.money;
        }
        return sums;
    }

  private:
    std::map<Key, Position> positions_;
};

}  // namespace strid::exchange
