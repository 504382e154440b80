// SPDX-License-Identifier: Apache-2.0
//
// New orders, matching, and what is reported of both.
#include "book_run.hpp"

#include <algorithm>

namespace strid::exchange {

namespace {

using NewRefusal = Refusal<RejectReason>;

Lifetime read_lifetime(const std::string& text) {
    if (text.empty() || text == "0") return Lifetime::day;
    if (text == "3") return Lifetime::immediate_or_cancel;
    if (text == "4") return Lifetime::fill_or_kill;
    throw NewRefusal{RejectReason::unsupported, "TimeInForce (59) is none of 0, 3, 4"};
}

}  // namespace

Outcome Book::Run::finish() {
    if (!before_.empty()) notify_subscribers();
    outcome_.orders.reserve(changed_.size());
    for (auto& [id, order] : changed_) outcome_.orders.push_back(std::move(order));
    return std::move(outcome_);
}

void Book::Run::report(decltype(Report::content) content) {
    outcome_.reports.push_back({command_.user, std::move(content)});
}

void Book::Run::new_order() {
    try {
        auto order = std::make_unique<Order>(checked_order());
        Order& incoming = *order;
        see_before();
        book_.orders_.emplace(incoming.id, std::move(order));
        book_.identifiers_[{incoming.user, incoming.client_id}] = {incoming.id, incoming.status};
        execution(incoming, ExecutionType::accepted);
        const bool kills = incoming.lifetime == Lifetime::fill_or_kill &&
                           book_.facing(incoming.side)
                                   .available(incoming.is_market, incoming.price,
                                              incoming.quantity) < incoming.quantity;
        if (!kills) match(incoming);
        settle(incoming, kills ? "cannot be filled at once" : "nothing more to trade with");
    } catch (const NewRefusal& refusal) {
        report(OrderRejected{refusal.reason, refusal.text});
    }
}

Order Book::Run::checked_order() const {
    const auto refuse = [](RejectReason reason, const char* text) {
        throw NewRefusal{reason, text};
    };
    const Command& asked = command_;
    if (!is_identifier(asked.client_id)) {
        refuse(RejectReason::other, "ClOrdID (11) is not 1 to 64 characters of ASCII");
    }
    if (asked.side != "1" && asked.side != "2") {
        refuse(RejectReason::unsupported, "Side (54) is none of 1, 2");
    }
    if (asked.order_type != "1" && asked.order_type != "2") {
        refuse(RejectReason::unsupported, "OrdType (40) is none of 1, 2");
    }
    Order order{.id = asked.number,
                .user = asked.user,
                .client_id = asked.client_id,
                .side = static_cast<Side>(asked.side[0]),
                .is_market = asked.order_type == "1",
                .lifetime = read_lifetime(asked.time_in_force),
                .queued_at = asked.number};
    if (!asked.unsupported.empty()) {
        throw NewRefusal{RejectReason::unsupported, asked.unsupported};
    }
    const auto quantity = read_quantity(asked.quantity);
    if (!quantity) {
        refuse(RejectReason::quantity, "OrderQty (38) is no whole number from 1 to 1000000");
    }
    order.quantity = *quantity;
    if (order.is_market) {
        if (!asked.price.empty()) {
            refuse(RejectReason::unsupported, "Price (44) of a market order");
        }
    } else {
        const auto price = read_price(asked.price);
        if (!price) {
            refuse(RejectReason::other,
                   "Price (44) is not above 0 and at most 100000 with 4 decimals");
        }
        order.price = *price;
    }
    if (book_.identifiers_.contains({asked.user, asked.client_id})) {
        refuse(RejectReason::duplicate, "ClOrdID (11) was used before");
    }
    return order;
}

void Book::Run::match(Order& incoming) {
    Levels& facing = book_.facing(incoming.side);
    while (incoming.open_quantity() != 0 && !facing.empty() &&
           (incoming.is_market || facing.crosses(incoming.price))) {
        Order& resting = facing.first();
        trade(incoming, resting, std::min(incoming.open_quantity(), resting.open_quantity()));
        facing.take_first(outcome_.trades.back().quantity, is_done(resting.status));
        forget_if_done(resting);
    }
}

void Book::Run::trade(Order& incoming, Order& resting, Quantity quantity) {
    const Price price = resting.price;
    for (Order* order : {&incoming, &resting}) {
        order->filled += quantity;
        order->paid += price * quantity;
        order->status =
            order->filled == order->quantity ? OrderStatus::filled : OrderStatus::partly_filled;
        touch(*order);
        Report trade_report{order->user, ExecutionReport{.type = ExecutionType::trade,
                                                         .order = *order,
                                                         .last_quantity = quantity,
                                                         .last_price = price}};
        outcome_.reports.push_back(std::move(trade_report));
    }
    const Order& buy = incoming.side == Side::buy ? incoming : resting;
    const Order& sell = incoming.side == Side::buy ? resting : incoming;
    outcome_.trades.push_back({buy.id, sell.id, buy.user, sell.user, price, quantity});
}

void Book::Run::settle(Order& order, const std::string& why) {
    if (order.open_quantity() != 0) {
        if (!order.is_market && order.lifetime == Lifetime::day) {
            book_.waiting(order.side).add(order);
        } else {
            order.status = OrderStatus::cancelled;
            execution(order, ExecutionType::cancelled, why);
        }
    }
    forget_if_done(order);
}

void Book::Run::execution(const Order& order, ExecutionType type, std::string text) {
    touch(order);
    report(ExecutionReport{.type = type, .order = order, .text = std::move(text)});
}

void Book::Run::touch(const Order& order) {
    changed_[order.id] = order;
    book_.identifiers_[{order.user, order.client_id}].status = order.status;
}

void Book::Run::forget_if_done(const Order& order) {
    if (is_done(order.status)) book_.orders_.erase(order.id);
}

}  // namespace strid::exchange
