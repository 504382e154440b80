// SPDX-License-Identifier: Apache-2.0
#include "book.hpp"

#include <algorithm>

#include <strid/base/hash.hpp>

#include "book_run.hpp"

namespace strid::exchange {

namespace {

constexpr std::size_t symbol_bytes_max = 16;

}  // namespace

std::size_t Book::IdentifierHash::operator()(const Identifier& one) const noexcept {
    return hash_of(one.user) * 31 + hash_of(one.client_id);
}

Outcome Book::apply(const Command& command) {
    Run run(*this, command);
    switch (command.kind) {
        case CommandKind::new_order:
            run.new_order();
            break;
        case CommandKind::cancel:
            run.cancel();
            break;
        case CommandKind::replace:
            run.replace();
            break;
        case CommandKind::market_data:
            run.market_data();
            break;
        case CommandKind::other:
            run.not_supported();
            break;
    }
    return run.finish();
}

void Book::restore(const Order& order) {
    identifiers_[{order.user, order.client_id}] = {order.id, order.status};
    if (is_done(order.status)) return;
    auto& own = orders_[order.id];
    own = std::make_unique<Order>(order);
    waiting(order.side).add(*own);
}

void Book::restore_retired(const std::string& user, const std::string& client_id) {
    identifiers_[{user, client_id}] = {};
}

void Book::restore(const Subscription& subscription) {
    subscriptions_[subscription.user] = subscription;
}

bool Book::is_valid() const {
    std::size_t waiting = 0;
    for (const Levels* side : {&bids_, &offers_}) {
        if (!side->is_valid()) return false;
        for (const auto& [price, level] : side->levels()) waiting += level.queue.size();
    }
    const bool is_crossed =
        !bids_.empty() && !offers_.empty() && bids_.best_price() >= offers_.best_price();
    return !is_crossed && waiting == orders_.size() &&
           std::all_of(orders_.begin(), orders_.end(), [this](const auto& entry) {
               const Order& order = *entry.second;
               const auto known = identifiers_.find({order.user, order.client_id});
               return order.id == entry.first && !order.is_market && known != identifiers_.end() &&
                      known->second.order == order.id && known->second.status == order.status;
           });
}

std::string fault_of_symbol(const std::string& symbol) {
    if (symbol.empty()) return "Symbol (55) is missing";
    const bool shows =
        std::all_of(symbol.begin(), symbol.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (symbol.size() > symbol_bytes_max || !shows) return "not a symbol";
    return {};
}

Outcome refuse(const Command& command, const std::string& symbol_fault) {
    const bool is_user = is_identifier(command.user);
    const std::string text = is_user ? symbol_fault : "the user is not 1 to 64 characters of ASCII";
    Report report{command.user, NotSupported{}};
    switch (command.kind) {
        case CommandKind::new_order:
            report.content =
                OrderRejected{is_user ? RejectReason::unknown_symbol : RejectReason::other, text};
            break;
        case CommandKind::cancel:
        case CommandKind::replace:
            report.content = CancelRejected{
                0, OrderStatus::rejected,
                is_user ? CancelRejectReason::unknown_order : CancelRejectReason::other, text};
            break;
        case CommandKind::market_data:
            report.content = MarketDataRejected{is_user ? '0' : '3', text};
            break;
        case CommandKind::other:
            break;
    }
    Outcome outcome;
    outcome.reports.push_back(std::move(report));
    return outcome;
}

}  // namespace strid::exchange
