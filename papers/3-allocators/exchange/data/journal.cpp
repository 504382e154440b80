// SPDX-License-Identifier: Apache-2.0
#include "data/journal.hpp"

#include <algorithm>
#include <utility>

#include "data/schema.hpp"

namespace strid::exchange {

Journal::Journal(std::unique_ptr<Database> database, Recovered&& recovered)
    : database_(std::move(database)),
      state_(recovered.state),
      sum_(recovered.sum),
      holdings_(std::move(recovered.holdings)),
      order_digests_(std::move(recovered.order_digests)),
      subscription_digests_(std::move(recovered.subscription_digests)),
      report_digests_(std::move(recovered.report_digests)) {
    unsigned number = 0;
    for (const std::string& statement : statements()) database_->prepare(number++, statement);
}

void Journal::add(Matched&& matched) {
    state_.command = matched.number;
    waiting_.push_back(std::move(matched));
}

Committed Journal::commit(std::uint64_t acknowledged) {
    Committed committed{.last_command = state_.command, .first_report = state_.report + 1};
    database_->begin();
    for (const Matched& matched : waiting_) put(matched, matched.number);
    put_orders();
    put_positions();
    put_reports(committed);
    drop_acknowledged(std::min(acknowledged, state_.report));
    put_state(*database_, state_, sum_ + digest_of(state_));
    database_->commit();
    waiting_.clear();
    return committed;
}

// Rows without a later version in the transaction; orders and positions come once, at its end.
void Journal::put(const Matched& matched, CommandNumber command) {
    const std::string& symbol = matched.symbol;
    for (const Order& order : matched.outcome.orders) orders_[order.id] = {&symbol, &order};
    for (const std::string& client_id : matched.outcome.retired_ids) {
        const RetiredId retired{matched.user, client_id};
        put_retired(*database_, symbol, retired);
        sum_ += digest_of(symbol, retired);
    }
    for (const Trade& trade : matched.outcome.trades) {
        const TradeRow row{++state_.trades, command, symbol, trade};
        put_trade(*database_, row);
        sum_ += digest_of(row);
        for (const std::string* user : {&trade.buyer, &trade.seller}) {
            positions_before_.try_emplace({*user, symbol}, holdings_.find(*user, symbol));
        }
        holdings_.add(symbol, trade);
    }
    for (const Subscription& one : matched.outcome.subscriptions) put_subscription_of(symbol, one);
}

void Journal::put_orders() {
    for (const auto& [id, changed] : orders_) {
        const auto& [symbol, order] = changed;
        put_order(*database_, *symbol, *order);
        const std::uint64_t digest = digest_of(*symbol, *order);
        auto [known, is_new] = order_digests_.try_emplace(id, 0);
        sum_ += digest - known->second;
        known->second = digest;
        if (is_done(order->status)) order_digests_.erase(known);
    }
    orders_.clear();
}

void Journal::put_positions() {
    for (const auto& [key, before] : positions_before_) {
        const Position& now = holdings_.at(key.first, key.second);
        put_position(*database_, key, now);
        sum_ += digest_of(key, now) - (before ? digest_of(key, *before) : 0);
    }
    positions_before_.clear();
}

void Journal::put_subscription_of(const std::string& symbol, const Subscription& one) {
    put_subscription(*database_, symbol, one);
    const Holdings::Key key{one.user, symbol};
    const auto known = subscription_digests_.find(key);
    if (known != subscription_digests_.end()) {
        sum_ -= known->second;
        subscription_digests_.erase(known);
    }
    if (one.ends) return;
    sum_ += subscription_digests_[key] = digest_of(symbol, one);
}

void Journal::put_reports(Committed& committed) {
    for (Matched& matched : waiting_) {
        for (fix::Message& report : matched.reports) {
            report.set(fix::Tag::msg_seq_num, static_cast<std::int64_t>(++state_.report));
            committed.reports.push_back(report.encode());
            const std::string& text = committed.reports.back();
            put_report(*database_, state_.report, text);
            report_digests_.push_back(digest_of_report(state_.report, text));
            sum_ += report_digests_.back();
        }
    }
}

void Journal::drop_acknowledged(std::uint64_t up_to) {
    if (up_to <= state_.acknowledged) return;
    drop_reports(*database_, up_to);
    for (; state_.acknowledged != up_to; ++state_.acknowledged) {
        sum_ -= report_digests_.front();
        report_digests_.pop_front();
    }
}

}  // namespace strid::exchange
