// SPDX-License-Identifier: Apache-2.0
//
// Cancels, replacements and market data.
#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "book_run.hpp"

namespace strid::exchange {

namespace {

// So that a report of all levels is far from the length that a message may have.
constexpr std::uint32_t depth_max = 250;

/// Empty where it is no depth.
std::optional<std::uint32_t> read_depth(const std::string& text) {
    std::uint32_t depth = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), depth);
    const bool is_number = error == std::errc{} && end == text.data() + text.size();
    if (!is_number || depth > depth_max) return std::nullopt;
    return depth == 0 ? depth_max : depth;
}

}  // namespace

void Book::Run::cancel() {
    OrderId id = 0;
    OrderStatus status = OrderStatus::rejected;
    try {
        Order& order = open_order(id, status);
        see_before();
        book_.waiting(order.side).remove(order);
        order.status = OrderStatus::cancelled;
        touch(order);
        ExecutionReport cancelled{
            .type = ExecutionType::cancelled, .order = order, .original_id = command_.original_id};
        cancelled.order.client_id = command_.client_id;
        report(std::move(cancelled));
        forget_if_done(order);
    } catch (const CancelRefusal& refusal) {
        report(CancelRejected{id, status, refusal.reason, refusal.text});
    }
}

// The order that the command is about. `id` and `status` are what is known of it, for a refusal.
Order& Book::Run::open_order(OrderId& id, OrderStatus& status) const {
    const auto refuse = [](CancelRejectReason reason, const char* text) {
        throw CancelRefusal{reason, text};
    };
    if (!is_identifier(command_.client_id)) {
        refuse(CancelRejectReason::other, "ClOrdID (11) is not 1 to 64 characters of ASCII");
    }
    const auto known = book_.identifiers_.find({command_.user, command_.original_id});
    if (known == book_.identifiers_.end() || known->second.order == 0) {
        refuse(CancelRejectReason::unknown_order, "no such order");
    }
    id = known->second.order;
    status = known->second.status;
    if (is_done(status)) refuse(CancelRejectReason::too_late, "the order is done");
    if (!command_.unsupported.empty()) {
        throw CancelRefusal{CancelRejectReason::other, command_.unsupported};
    }
    return *book_.orders_.find(id)->second;
}

void Book::Run::replace() {
    OrderId id = 0;
    OrderStatus status = OrderStatus::rejected;
    try {
        Order& order = open_order(id, status);
        const Replacement replacement = checked_replacement(order);
        see_before();
        carry_out(order, replacement);
    } catch (const CancelRefusal& refusal) {
        report(CancelRejected{id, status, refusal.reason, refusal.text});
    }
}

Book::Run::Replacement Book::Run::checked_replacement(const Order& order) const {
    const auto refuse = [](CancelRejectReason reason, const char* text) {
        throw CancelRefusal{reason, text};
    };
    const Command& asked = command_;
    if (book_.identifiers_.contains({asked.user, asked.client_id})) {
        refuse(CancelRejectReason::duplicate, "ClOrdID (11) was used before");
    }
    if (!asked.side.empty() && asked.side != std::string(1, static_cast<char>(order.side))) {
        refuse(CancelRejectReason::other, "Side (54) cannot change");
    }
    if (!asked.order_type.empty() && asked.order_type != "2") {
        refuse(CancelRejectReason::other, "OrdType (40) cannot change");
    }
    if (!asked.time_in_force.empty() && asked.time_in_force != "0") {
        refuse(CancelRejectReason::other, "TimeInForce (59) cannot change");
    }
    const auto quantity = read_quantity(asked.quantity);
    if (!quantity) {
        refuse(CancelRejectReason::other, "OrderQty (38) is no whole number from 1 to 1000000");
    }
    if (*quantity <= order.filled) {
        refuse(CancelRejectReason::other, "OrderQty (38) is not above what is filled");
    }
    const auto price = read_price(asked.price);
    if (!price) {
        refuse(CancelRejectReason::other,
               "Price (44) is not above 0 and at most 100000 with 4 decimals");
    }
    return {*quantity, *price};
}

void Book::Run::carry_out(Order& order, const Replacement& replacement) {
    Levels& waiting = book_.waiting(order.side);
    const bool keeps_place =
        replacement.price == order.price && replacement.quantity <= order.quantity;
    if (keeps_place) {
        waiting.reduce(order, order.quantity - replacement.quantity);
    } else {
        waiting.remove(order);
        order.queued_at = command_.number;
    }
    order.quantity = replacement.quantity;
    order.price = replacement.price;
    book_.identifiers_[{order.user, order.client_id}] = {};
    outcome_.retired_ids.push_back(order.client_id);
    order.client_id = command_.client_id;
    book_.identifiers_[{order.user, order.client_id}] = {order.id, order.status};
    touch(order);
    report(ExecutionReport{
        .type = ExecutionType::replaced, .order = order, .original_id = command_.original_id});
    if (keeps_place) return;
    match(order);
    settle(order, {});
}

// ---- market data -------------------------------------------------------------------------------

void Book::Run::market_data() {
    const auto refuse = [this](char reason, const char* text) {
        report(MarketDataRejected{reason, text});
    };
    const auto depth = command_.depth.empty() ? 1 : read_depth(command_.depth);
    if (!is_identifier(command_.request_id)) {
        refuse('1', "MDReqID (262) is not 1 to 64 characters of ASCII");
    } else if (!depth) {
        refuse('5', "MarketDepth (264) is no whole number from 0 to 250");
    } else if (!command_.unsupported.empty()) {
        report(MarketDataRejected{command_.unsupported_reason, command_.unsupported});
    } else if (command_.subscription == "0") {
        snapshot(*depth);
    } else if (command_.subscription == "1") {
        subscribe(*depth);
        snapshot(*depth);
    } else if (command_.subscription == "2") {
        const auto known = book_.subscriptions_.find(command_.user);
        if (known == book_.subscriptions_.end()) {
            refuse('1', "there is no subscription");
            return;
        }
        known->second.ends = true;
        outcome_.subscriptions.push_back(known->second);
        book_.subscriptions_.erase(known);
    } else {
        refuse('4', "SubscriptionRequestType (263) is none of 0, 1, 2");
    }
}

void Book::Run::subscribe(std::uint32_t depth) {
    const Subscription subscription{.user = command_.user,
                                    .request_id = command_.request_id,
                                    .depth = depth,
                                    .subscribed_at = command_.number};
    book_.subscriptions_[command_.user] = subscription;
    outcome_.subscriptions.push_back(subscription);
}

void Book::Run::snapshot(std::uint32_t depth) {
    report(Snapshot{command_.request_id, book_.bids_.view(depth), book_.offers_.view(depth)});
}

void Book::Run::see_before() {
    for (const auto& [user, subscription] : book_.subscriptions_) {
        BestLevels& seen = before_[subscription.depth];
        if (!seen.bids.empty() || !seen.offers.empty()) continue;
        seen = {book_.bids_.view(subscription.depth), book_.offers_.view(subscription.depth)};
    }
}

void Book::Run::notify_subscribers() {
    std::map<std::uint32_t, std::vector<LevelChange>> changes;
    for (const auto& [depth, seen] : before_) {
        append_changes(Side::buy, seen.bids, book_.bids_.view(depth), changes[depth]);
        append_changes(Side::sell, seen.offers, book_.offers_.view(depth), changes[depth]);
    }
    std::vector<const Subscription*> subscribers;
    for (const auto& [user, subscription] : book_.subscriptions_) {
        if (!changes[subscription.depth].empty()) subscribers.push_back(&subscription);
    }
    std::sort(subscribers.begin(), subscribers.end(), [](const auto* one, const auto* other) {
        return one->subscribed_at < other->subscribed_at;
    });
    for (const Subscription* subscriber : subscribers) {
        outcome_.reports.push_back(
            {subscriber->user, BookChange{subscriber->request_id, changes[subscriber->depth]}});
    }
}

}  // namespace strid::exchange
