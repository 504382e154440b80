// SPDX-License-Identifier: Apache-2.0
//
// The order book of one symbol: matching by price, then time, and the states of its orders. The
// rules are in README.md.
//
// Owns the orders that are open, and the identifiers of all that ever were. One thread at a time.
//
// Invariants: `bids` and `offers` hold exactly the open limit orders, and no bid reaches an offer
// between two commands. The result of a command depends on the commands before it and on nothing
// else: no clock, no address, no random number.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "command.hpp"
#include "levels.hpp"
#include "order.hpp"
#include "report.hpp"

namespace strid::exchange {

class Book {
  public:
    Book() = default;
    Book(const Book&) = delete;
    Book& operator=(const Book&) = delete;
    Book(Book&&) = default;
    Book& operator=(Book&&) = default;
    ~Book() = default;

    /// Carries out the command of a known symbol. A new order or a replacement costs O(log levels)
    /// and as much for each trade, a cancel O(log levels + orders of its price); where the book has
    /// subscribers, the levels that they see besides.
    [[nodiscard]] Outcome apply(const Command& command);

    // Restores the orders of a journal, before the first command. Orders by rising `queued_at`.
    void restore(const Order& order);
    void restore_retired(const std::string& user, const std::string& client_id);
    void restore(const Subscription& subscription);

    [[nodiscard]] const Levels& bids() const noexcept { return bids_; }
    [[nodiscard]] const Levels& offers() const noexcept { return offers_; }
    [[nodiscard]] std::size_t open_orders() const noexcept { return orders_.size(); }
    /// O(orders): whether the invariants hold.
    [[nodiscard]] bool is_valid() const;

  private:
    struct Identifier {
        std::string user;
        std::string client_id;
        bool operator==(const Identifier&) const = default;
    };
    struct IdentifierHash {
        std::size_t operator()(const Identifier& one) const noexcept;
    };
    /// The order of an identifier now.
    struct Known {
        OrderId order = 0;  ///< 0: it was retired by a replacement
        OrderStatus status = OrderStatus::open;
    };
    class Run;

    [[nodiscard]] Levels& waiting(Side side) noexcept {
        return side == Side::buy ? bids_ : offers_;
    }
    [[nodiscard]] Levels& facing(Side side) noexcept { return side == Side::buy ? offers_ : bids_; }

    std::map<OrderId, std::unique_ptr<Order>> orders_;  // the open ones
    std::unordered_map<Identifier, Known, IdentifierHash> identifiers_;
    std::map<std::string, Subscription> subscriptions_;  // by user
    Levels bids_{Side::buy};
    Levels offers_{Side::sell};
};

/// The fault of the symbol, for a refusal; empty for a valid symbol: 1 to 16 characters of ASCII
/// that show, none of them a space.
[[nodiscard]] std::string fault_of_symbol(const std::string& symbol);

/// The answer to a command of a user whose name is no identifier, or whose symbol is not traded
/// because of `symbol_fault`.
[[nodiscard]] Outcome refuse(const Command& command, const std::string& symbol_fault);

}  // namespace strid::exchange
