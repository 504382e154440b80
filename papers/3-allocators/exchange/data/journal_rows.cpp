// SPDX-License-Identifier: Apache-2.0
#include "data/journal_rows.hpp"

#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/hash.hpp>

#include "data/schema.hpp"

namespace strid::exchange {

namespace {

void run(Database& database, Statement statement, std::initializer_list<Value> values) {
    database.run(static_cast<unsigned>(statement), {values.begin(), values.size()});
}

std::int64_t number(std::uint64_t value) noexcept {
    return static_cast<std::int64_t>(value);
}

/// The digest of what is printed so. Texts are followed by their sizes, so that no two rows print
/// the same.
template <class... Values>
std::uint64_t digest(fmt::format_string<Values...> format, Values&&... values) {
    fmt::memory_buffer text;
    fmt::format_to(fmt::appender(text), format, std::forward<Values>(values)...);
    return hash_of(std::string_view(text.data(), text.size()));
}

/// One letter of an enumeration whose values are letters.
template <class Enumeration>
Enumeration letter(const Row& row, int column, std::string_view allowed) {
    const std::string_view text = row.text(column);
    if (text.size() != 1 || allowed.find(text[0]) == std::string_view::npos) {
        throw InputOutputError("a letter that has no meaning");
    }
    return static_cast<Enumeration>(text[0]);
}

template <class Enumeration>
char text_of(Enumeration value) noexcept {
    return static_cast<char>(value);
}

}  // namespace

void put_order(Database& database, const std::string& symbol, const Order& order) {
    const char side = text_of(order.side);
    const char lifetime = text_of(order.lifetime);
    const char status = text_of(order.status);
    run(database, Statement::put_order,
        {number(order.id), symbol, order.user, order.client_id, std::string_view(&side, 1),
         std::int64_t{order.is_market}, std::string_view(&lifetime, 1), order.price, order.quantity,
         order.filled, order.paid, std::string_view(&status, 1), number(order.queued_at)});
}

void put_retired(Database& database, const std::string& symbol, const RetiredId& retired) {
    run(database, Statement::put_retired, {symbol, retired.user, retired.client_id});
}

void put_trade(Database& database, const TradeRow& row) {
    const Trade& trade = row.trade;
    run(database, Statement::put_trade,
        {number(row.id), number(row.command), row.symbol, number(trade.buy_order),
         number(trade.sell_order), trade.buyer, trade.seller, trade.price, trade.quantity});
}

void put_position(Database& database, const Holdings::Key& key, const Position& position) {
    const std::string money = money_units(position.money);
    run(database, Statement::put_position, {key.first, key.second, position.shares, money});
}

void put_subscription(Database& database, const std::string& symbol, const Subscription& one) {
    if (one.ends) {
        run(database, Statement::end_subscription, {symbol, one.user});
        return;
    }
    run(database, Statement::put_subscription,
        {symbol, one.user, one.request_id, std::int64_t{one.depth}, number(one.subscribed_at)});
}

void put_report(Database& database, std::uint64_t id, std::string_view message) {
    run(database, Statement::put_report, {number(id), Bytes{message}});
}

void drop_reports(Database& database, std::uint64_t up_to) {
    run(database, Statement::drop_reports, {number(up_to)});
}

void put_state(Database& database, const JournalState& state, std::uint64_t digest) {
    run(database, Statement::put_state,
        {schema_version, number(state.command), number(state.report), number(state.acknowledged),
         number(state.trades), number(digest)});
}

// ---- digests -----------------------------------------------------------------------------------

std::uint64_t digest_of(const std::string& symbol, const Order& order) {
    return digest("order {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", order.id, symbol,
                  symbol.size(), order.user, order.user.size(), order.client_id,
                  order.client_id.size(), text_of(order.side), order.is_market,
                  text_of(order.lifetime), order.price, order.quantity, order.filled, order.paid,
                  text_of(order.status), order.queued_at);
}

std::uint64_t digest_of(const std::string& symbol, const RetiredId& retired) {
    return digest("retired {} {} {} {} {} {}", symbol, symbol.size(), retired.user,
                  retired.user.size(), retired.client_id, retired.client_id.size());
}

std::uint64_t digest_of(const TradeRow& row) {
    const Trade& trade = row.trade;
    return digest("trade {} {} {} {} {} {} {} {} {} {} {} {}", row.id, row.command, row.symbol,
                  row.symbol.size(), trade.buy_order, trade.sell_order, trade.buyer,
                  trade.buyer.size(), trade.seller, trade.seller.size(), trade.price,
                  trade.quantity);
}

std::uint64_t digest_of(const Holdings::Key& key, const Position& position) {
    return digest("position {} {} {} {} {} {}", key.first, key.first.size(), key.second,
                  key.second.size(), position.shares, money_units(position.money));
}

std::uint64_t digest_of(const std::string& symbol, const Subscription& one) {
    return digest("subscription {} {} {} {} {} {} {} {}", symbol, symbol.size(), one.user,
                  one.user.size(), one.request_id, one.request_id.size(), one.depth,
                  one.subscribed_at);
}

std::uint64_t digest_of_report(std::uint64_t id, std::string_view message) {
    return hash_of(message) ^ hash_of(id);
}

std::uint64_t digest_of(const JournalState& state) {
    return digest("state {} {} {} {}", state.command, state.report, state.acknowledged,
                  state.trades);
}

// ---- reading -----------------------------------------------------------------------------------

void read_orders(Database& database,
                 const std::function<void(const std::string& symbol, const Order&)>& take) {
    database.query(
        "SELECT id, symbol, account, client_id, side, is_market, lifetime, price, quantity, "
        "filled, paid, status, queued_at FROM orders ORDER BY queued_at",
        [&take](const Row& row) {
            Order order{.id = static_cast<OrderId>(row.integer(0)),
                        .user = std::string(row.text(2)),
                        .client_id = std::string(row.text(3)),
                        .side = letter<Side>(row, 4, "12"),
                        .is_market = row.integer(5) != 0,
                        .lifetime = letter<Lifetime>(row, 6, "034"),
                        .price = row.integer(7),
                        .quantity = row.integer(8),
                        .filled = row.integer(9),
                        .paid = row.integer(10),
                        .status = letter<OrderStatus>(row, 11, "0124"),
                        .queued_at = static_cast<CommandNumber>(row.integer(12))};
            take(std::string(row.text(1)), order);
        });
}

void read_retired(Database& database,
                  const std::function<void(const std::string& symbol, const RetiredId&)>& take) {
    database.query("SELECT symbol, account, client_id FROM retired_ids", [&take](const Row& row) {
        take(std::string(row.text(0)), {std::string(row.text(1)), std::string(row.text(2))});
    });
}

void read_trades(Database& database, const std::function<void(const TradeRow&)>& take) {
    database.query(
        "SELECT id, command, symbol, buy_order, sell_order, buyer, seller, price, quantity "
        "FROM trades ORDER BY id",
        [&take](const Row& row) {
            take({.id = static_cast<std::uint64_t>(row.integer(0)),
                  .command = static_cast<CommandNumber>(row.integer(1)),
                  .symbol = std::string(row.text(2)),
                  .trade = {static_cast<OrderId>(row.integer(3)),
                            static_cast<OrderId>(row.integer(4)), std::string(row.text(5)),
                            std::string(row.text(6)), row.integer(7), row.integer(8)}});
        });
}

void read_positions(Database& database,
                    const std::function<void(const Holdings::Key&, const Position&)>& take) {
    database.query("SELECT account, symbol, shares, money FROM positions", [&take](const Row& row) {
        const auto money = read_money(row.text(3));
        if (!money) throw InputOutputError("money that is no number");
        take({std::string(row.text(0)), std::string(row.text(1))}, {row.integer(2), *money});
    });
}

void read_subscriptions(
    Database& database,
    const std::function<void(const std::string& symbol, const Subscription&)>& take) {
    database.query("SELECT symbol, account, request_id, depth, subscribed_at FROM subscriptions",
                   [&take](const Row& row) {
                       take(std::string(row.text(0)),
                            {.user = std::string(row.text(1)),
                             .request_id = std::string(row.text(2)),
                             .depth = static_cast<std::uint32_t>(row.integer(3)),
                             .subscribed_at = static_cast<CommandNumber>(row.integer(4))});
                   });
}

void read_reports(Database& database, std::uint64_t first, std::uint64_t last,
                  const std::function<void(std::uint64_t id, std::string_view message)>& take) {
    database.query(
        fmt::format("SELECT id, message FROM reports WHERE id BETWEEN {} AND {} ORDER BY id", first,
                    last),
        [&take](const Row& row) {
            take(static_cast<std::uint64_t>(row.integer(0)), row.bytes(1));
        });
}

}  // namespace strid::exchange
