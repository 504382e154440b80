// SPDX-License-Identifier: Apache-2.0
//
// One command on its way through a book: private to the book's sources. Lives for one call.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "book.hpp"

namespace strid::exchange {

/// A refusal, thrown by the checks and turned into a report where the command is handled.
template <class Reason>
struct Refusal {
    Reason reason;
    std::string text;
};

class Book::Run {
  public:
    Run(Book& book, const Command& command) : book_(book), command_(command) {}

    [[nodiscard]] Outcome finish();
    void new_order();
    void cancel();
    void replace();
    void market_data();
    void not_supported() { report(NotSupported{}); }

    void report(decltype(Report::content) content);

  private:
    using NewRefusal = Refusal<RejectReason>;
    using CancelRefusal = Refusal<CancelRejectReason>;

    struct Replacement {
        Quantity quantity;
        Price price;
    };
    struct BestLevels {
        std::vector<LevelView> bids;
        std::vector<LevelView> offers;
    };

    [[nodiscard]] Order checked_order() const;
    [[nodiscard]] Order& open_order(OrderId& id, OrderStatus& status) const;
    [[nodiscard]] Replacement checked_replacement(const Order& order) const;
    void carry_out(Order& order, const Replacement& replacement);
    void match(Order& incoming);
    void trade(Order& incoming, Order& resting, Quantity quantity);
    /// A day order waits; the rest of another order is cancelled.
    void settle(Order& order, const std::string& why);
    void execution(const Order& order, ExecutionType type, std::string text = {});
    void touch(const Order& order);
    void forget_if_done(const Order& order);
    void subscribe(std::uint32_t depth);
    void snapshot(std::uint32_t depth);
    void see_before();
    void notify_subscribers();

    Book& book_;
    const Command& command_;
    Outcome outcome_;
    std::map<OrderId, Order> changed_;
    std::map<std::uint32_t, BestLevels> before_;  // by depth
};

}  // namespace strid::exchange
