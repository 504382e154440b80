// SPDX-License-Identifier: Apache-2.0
//
// An order that the exchange has accepted, and what is written down of it. Plain values.
#pragma once

#include <cstdint>
#include <string>

#include "amount.hpp"
#include "command.hpp"

namespace strid::exchange {

/// The number of the command that brought the order.
using OrderId = CommandNumber;

enum class Side : char { buy = '1', sell = '2' };

/// OrdStatus (39).
enum class OrderStatus : char {
    open = '0',
    partly_filled = '1',
    filled = '2',
    cancelled = '4',
    rejected = '8'
};

/// It cannot trade any more.
[[nodiscard]] constexpr bool is_done(OrderStatus status) noexcept {
    return status != OrderStatus::open && status != OrderStatus::partly_filled;
}

/// TimeInForce (59).
enum class Lifetime : char { day = '0', immediate_or_cancel = '3', fill_or_kill = '4' };

struct Order {
    OrderId id = 0;
    std::string user = {};
    std::string client_id = {};  ///< that of the last replacement
    Side side = Side::buy;
    bool is_market = false;
    Lifetime lifetime = Lifetime::day;
    Price price = 0;  ///< 0 of a market order
    Quantity quantity = 0;
    Quantity filled = 0;
    std::int64_t paid = 0;  ///< the sum of price times quantity over its trades
    OrderStatus status = OrderStatus::open;
    /// The command that put it at the end of its price: orders of one price trade in this order.
    CommandNumber queued_at = 0;

    [[nodiscard]] Quantity open_quantity() const noexcept {
        return is_done(status) ? 0 : quantity - filled;
    }
};

/// One trade. The buyer's and the seller's money and shares move by it.
struct Trade {
    OrderId buy_order = 0;
    OrderId sell_order = 0;
    std::string buyer = {};
    std::string seller = {};
    Price price = 0;
    Quantity quantity = 0;
};

/// A user's subscription to a book.
struct Subscription {
    std::string user = {};
    std::string request_id = {};
    std::uint32_t depth = 0;          ///< levels of each side
    CommandNumber subscribed_at = 0;  ///< subscribers are notified in this order
    bool ends = false;                ///< it is no more
};

}  // namespace strid::exchange
