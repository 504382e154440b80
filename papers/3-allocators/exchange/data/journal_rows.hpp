// SPDX-License-Identifier: Apache-2.0
//
// The rows of a journal: how they are written and read, and their digests. The digest of a journal
// is the sum of its rows' digests, modulo 2^64, so a change of rows changes it by a difference; it
// stands in the row `state` of each transaction. Rows that are missing, doubled, or older than the
// others are found by it, also where the database itself sees no fault. Functions without state.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "data/database.hpp"
#include "data/holdings.hpp"
#include "data/task.hpp"

namespace strid::exchange {

/// The row `state`.
struct JournalState {
    CommandNumber command = 0;       ///< the last that was carried out
    std::uint64_t report = 0;        ///< the last that was made
    std::uint64_t acknowledged = 0;  ///< reports up to this one are gone
    std::uint64_t trades = 0;
};

/// A trade as it is kept.
struct TradeRow {
    std::uint64_t id = 0;  ///< 1, 2, ...
    CommandNumber command = 0;
    std::string symbol = {};
    Trade trade = {};
};

void put_order(Database& database, const std::string& symbol, const Order& order);
void put_retired(Database& database, const std::string& symbol, const RetiredId& retired);
void put_trade(Database& database, const TradeRow& row);
void put_position(Database& database, const Holdings::Key& key, const Position& position);
/// One that ends is taken away.
void put_subscription(Database& database, const std::string& symbol, const Subscription& one);
void put_report(Database& database, std::uint64_t id, std::string_view message);
void drop_reports(Database& database, std::uint64_t up_to);
void put_state(Database& database, const JournalState& state, std::uint64_t digest);

[[nodiscard]] std::uint64_t digest_of(const std::string& symbol, const Order& order);
[[nodiscard]] std::uint64_t digest_of(const std::string& symbol, const RetiredId& retired);
[[nodiscard]] std::uint64_t digest_of(const TradeRow& row);
[[nodiscard]] std::uint64_t digest_of(const Holdings::Key& key, const Position& position);
[[nodiscard]] std::uint64_t digest_of(const std::string& symbol, const Subscription& one);
[[nodiscard]] std::uint64_t digest_of_report(std::uint64_t id, std::string_view message);
[[nodiscard]] std::uint64_t digest_of(const JournalState& state);

// Of all rows; `take` is called in the order of the table's key, of orders by `queued_at`.
void read_orders(Database& database,
                 const std::function<void(const std::string& symbol, const Order&)>& take);
void read_retired(Database& database,
                  const std::function<void(const std::string& symbol, const RetiredId&)>& take);
void read_trades(Database& database, const std::function<void(const TradeRow&)>& take);
void read_positions(Database& database,
                    const std::function<void(const Holdings::Key&, const Position&)>& take);
void read_subscriptions(
    Database& database,
    const std::function<void(const std::string& symbol, const Subscription&)>& take);
/// Of the reports from `first` to `last`.
void read_reports(Database& database, std::uint64_t first, std::uint64_t last,
                  const std::function<void(std::uint64_t id, std::string_view message)>& take);

}  // namespace strid::exchange
