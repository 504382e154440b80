// SPDX-License-Identifier: Apache-2.0
#include "data/schema.hpp"

#include <fmt/format.h>

namespace strid::exchange {

void create_tables(Database& database) {
    // One string for all: PostgreSQL, too, carries it out as one transaction.
    database.execute(fmt::format(R"(
BEGIN;
CREATE TABLE state (
    id {0} PRIMARY KEY, version {0} NOT NULL, command {0} NOT NULL,
    report {0} NOT NULL, acknowledged {0} NOT NULL, trades {0} NOT NULL,
    digest {0} NOT NULL);
CREATE TABLE orders (
    id {0} PRIMARY KEY, symbol TEXT NOT NULL, account TEXT NOT NULL, client_id TEXT NOT NULL,
    side TEXT NOT NULL, is_market {0} NOT NULL, lifetime TEXT NOT NULL, price {0} NOT NULL,
    quantity {0} NOT NULL, filled {0} NOT NULL, paid {0} NOT NULL, status TEXT NOT NULL,
    queued_at {0} NOT NULL);
CREATE TABLE retired_ids (
    symbol TEXT NOT NULL, account TEXT NOT NULL, client_id TEXT NOT NULL,
    PRIMARY KEY (symbol, account, client_id));
CREATE TABLE trades (
    id {0} PRIMARY KEY, command {0} NOT NULL, symbol TEXT NOT NULL,
    buy_order {0} NOT NULL, sell_order {0} NOT NULL, buyer TEXT NOT NULL,
    seller TEXT NOT NULL, price {0} NOT NULL, quantity {0} NOT NULL);
CREATE TABLE positions (
    account TEXT NOT NULL, symbol TEXT NOT NULL, shares {0} NOT NULL, money TEXT NOT NULL,
    PRIMARY KEY (account, symbol));
CREATE TABLE subscriptions (
    symbol TEXT NOT NULL, account TEXT NOT NULL, request_id TEXT NOT NULL, depth {0} NOT NULL,
    subscribed_at {0} NOT NULL, PRIMARY KEY (symbol, account));
CREATE TABLE reports (id {0} PRIMARY KEY, message {1} NOT NULL);
COMMIT;)",
                                 database.integer_type(), database.bytes_type()));
}

std::vector<std::string> statements() {
    return {
        "INSERT INTO orders VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) "
        "ON CONFLICT (id) DO UPDATE SET client_id = excluded.client_id, price = excluded.price, "
        "quantity = excluded.quantity, filled = excluded.filled, paid = excluded.paid, "
        "status = excluded.status, queued_at = excluded.queued_at",
        "INSERT INTO retired_ids VALUES ($1, $2, $3)",
        "INSERT INTO trades VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        "INSERT INTO positions VALUES ($1, $2, $3, $4) ON CONFLICT (account, symbol) "
        "DO UPDATE SET shares = excluded.shares, money = excluded.money",
        "INSERT INTO subscriptions VALUES ($1, $2, $3, $4, $5) ON CONFLICT (symbol, account) "
        "DO UPDATE SET request_id = excluded.request_id, depth = excluded.depth, "
        "subscribed_at = excluded.subscribed_at",
        "DELETE FROM subscriptions WHERE symbol = $1 AND account = $2",
        "INSERT INTO reports VALUES ($1, $2)",
        "DELETE FROM reports WHERE id <= $1",
        "INSERT INTO state VALUES (1, $1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO UPDATE SET "
        "version = excluded.version, command = excluded.command, report = excluded.report, "
        "acknowledged = excluded.acknowledged, trades = excluded.trades, "
        "digest = excluded.digest",
    };
}

}  // namespace strid::exchange
